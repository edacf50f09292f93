/** S4, as far as the flow: a run is started with inputs, by the version that is stored or by the text. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fillText, GREETING, textbox, treeitem } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const COUNT = GREETING.replace('name: string = "world"', "name: string").replace(
  "# Puts",
  "input times: int = 1\n\n# Puts",
);

describeWith("chromium")("running a flow", () => {
  const studio = useStudio();

  test("asks for its inputs, refuses a wrong one, and starts the stored version", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "greeting", dsl: COUNT });
    const page = await studio.open(server.url, { place: "#/flows/greeting" });
    const started: string[] = [];
    page.on("request", (request) => {
      if (request.postData()?.includes("start_run")) started.push(request.postData() ?? "");
    });
    await treeitem(page, "say, log").waitFor();
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Run" }).click();
    const dialog = page.getByRole("dialog", { name: "Run flow" });
    await dialog.getByText("Who is greeted").waitFor();
    const times = dialog.getByRole("textbox", { name: "times" });
    await expect.poll(() => times.inputValue()).toBe("1");
    await dialog.getByRole("textbox", { name: "name" }).fill("Ada");
    await times.fill("1.5");
    await dialog.getByRole("button", { name: "Start run" }).click();
    await expect.poll(() => times.getAttribute("aria-invalid")).toBe("true");
    expect(started).toEqual([]);
    await times.fill("2");
    await dialog.getByRole("button", { name: "Start run" }).click();
    await page.waitForURL(/#\/runs\/run_/);
    const runId = page.url().split("/").at(-1)?.split("?")[0] ?? "";
    const { template } = await server.client.invoke("get_run", { runId });
    expect(template).toEqual({ slug: "greeting", version: 1 });
    expect(started).toHaveLength(1);
    const { args } = JSON.parse(started[0] ?? "{}") as { readonly args: unknown };
    expect(args).toEqual({ template: "greeting", version: 1, inputs: { name: "Ada", times: 2 } });
  });

  test("starts at once without inputs, by keyboard, with the text that is not saved", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/new" });
    await fillText(
      page,
      GREETING.replace(/input name[^}]*}\n/, "").replace("inputs.name", '"you"'),
    );
    await treeitem(page, "say, log").waitFor();
    await page.getByText("No problems.").waitFor();
    await textbox(page).press("Control+Enter");
    await page.waitForURL(/#\/runs\/run_/);
    const { items } = await server.client.invoke("list_runs", {});
    expect(items).toHaveLength(1);
  });
});
