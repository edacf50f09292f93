/** S4: a run with inputs, from the dialog to its outputs. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { treeitem } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const ORDER = `# Prices an order.
flow 1 order

input count {
  description = "How many boxes"
  schema = { type: "integer", minimum: 1 }
}

input size: string = "small"

input rush: bool = false

input notes: string[] = []

node price: transform {
  value = inputs.count * (inputs.rush ? 20 : 10)
}

node said: log {
  message = "\${inputs.size}: \${price.value}"
}

output total: number = price.value

output notes: string[] = inputs.notes
`;

describeWith("chromium")("a run with inputs", () => {
  const studio = useStudio();

  test("asks for each input, sends nothing wrong, and shows the outputs", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "order", name: "Order", dsl: ORDER });
    const page = await studio.open(server.url, { place: "#/flows/order" });
    const sent: string[] = [];
    page.on("request", (request) => {
      const body = request.postData() ?? "";
      if (body.includes("start_run")) sent.push(body);
    });
    const run = page
      .getByRole("toolbar", { name: "Flow" })
      .getByRole("button", { name: "Run", exact: true });
    await run.click();
    const dialog = page.getByRole("dialog", { name: "Run flow" });
    const field = (name: string) => dialog.getByRole("textbox", { name, exact: true });
    await dialog.getByText("How many boxes").waitFor();
    await dialog.getByText('Default: "small"').waitFor();
    await expect.poll(() => field("size").inputValue()).toBe("small");

    await field("count").fill("0");
    await dialog.getByRole("button", { name: "Start run" }).click();
    await expect.poll(() => field("count").getAttribute("aria-invalid")).toBe("true");
    await dialog
      .getByRole("list", { name: "Wrong values" })
      .getByText("must be at least 1")
      .waitFor();
    await expectAccessible(page);
    expect(sent).toEqual([]);

    await field("count").fill("3");
    await dialog.getByRole("checkbox", { name: "rush" }).check();
    await dialog.getByRole("button", { name: "Add to notes" }).click();
    await field("notes 1").fill("handle with care");
    await dialog.getByRole("button", { name: "Start run" }).click();

    await page.waitForURL(/#\/runs\/run_/);
    const status = page.getByRole("status", { name: "Run status" });
    await expect.poll(() => status.textContent()).toContain("succeeded");
    for (const name of ["price, transform, succeeded", "said, log, succeeded"]) {
      await treeitem(page, name).waitFor();
    }
    const outputs = page.getByRole("region", { name: "Outputs" });
    await outputs.getByRole("group", { name: "total" }).getByText("60").waitFor();
    await outputs.getByRole("group", { name: "notes" }).getByText('"handle with care"').waitFor();
    expect(sent).toHaveLength(1);

    await page.goBack();
    await run.click();
    await expect.poll(() => field("count").inputValue()).toBe("3");
  });
});
