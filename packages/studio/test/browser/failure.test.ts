/** S8: a run that failed says where, why and what to do. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { FAILS } from "./flows.ts";
import { endedRun, expectRunStatus, nodeItem, openTab } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const IN_BODY = `flow 1 in-body

node pages: map {
  items = [1, 0]
  body {
    node stop: fail {
      message = "page \${item} is broken"
      @when = item == 0
    }
  }
}
`;

describeWith("chromium")("a failed run", () => {
  const studio = useStudio();

  test("names node, code, message and next step, and its node is chosen at once", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, FAILS);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await expectRunStatus(page, "failed");
    const alert = page.getByRole("alert").filter({ hasText: "stop failed" });
    await alert.getByText("Nothing is in order").waitFor();
    await alert.getByText(/^Next: /).waitFor();
    const item = nodeItem(page, "stop, fail, failed");
    await item.waitFor();
    await expect.poll(() => item.getAttribute("aria-selected")).toBe("true");
    await page.getByRole("tab", { name: "Log", selected: true }).waitFor();
    await openTab(page, "Node details", "Output");
    await page.getByRole("tabpanel", { name: "Output" }).getByText("Nothing is in order").waitFor();
    await expectAccessible(page);

    // The run has no stored flow: its graph is shown as text.
    await alert.getByRole("button", { name: "Show in text" }).click();
    await page
      .getByRole("tabpanel", { name: "Definition" })
      .getByText('message = "Nothing is in order"')
      .waitFor();
  });

  test("of a stored flow leads to the line of the node in that version", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "fails", name: "Fails", dsl: FAILS });
    const { runId } = await server.client.invoke("run_and_wait", {
      template: "fails",
      waitMs: 20_000,
    });
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await page.getByRole("button", { name: "Show in text" }).click();
    await page.waitForURL("**/studio#/flows/fails?v=1&node=stop");
    const text = page.getByRole("textbox", { name: "Flow text" });
    await expect.poll(() => text.evaluate((element) => element.matches(":focus"))).toBe(true);

    // Saved from there, the place is that of the newest version.
    await page.keyboard.type("# mended first\n");
    await page.keyboard.press("Control+s");
    await page.getByText("Saved version 2").waitFor();
    await page.waitForURL((url) => !url.hash.includes("v=1"));
    await page.reload();
    await text.getByText("# mended first").waitFor();
  });

  test("in the item of a body opens the way to it", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, IN_BODY);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=pages[1]/stop` });
    const item = nodeItem(page, "stop, fail, failed");
    await item.waitFor();
    await expect.poll(() => item.getAttribute("aria-level")).toBe("3");
    await expect.poll(() => item.getAttribute("aria-selected")).toBe("true");
    await nodeItem(page, "[0], item, skipped").waitFor();
    await nodeItem(page, "[1], item, failed").waitFor();
  });

  test("that does not exist is said to be missing", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/runs/run_01JAAAAAAAAAAAAAAAAAAAAAAA",
      expected: [/status of 404/],
    });
    await page.getByRole("heading", { name: "Run not found" }).waitFor();
    await page.getByRole("link", { name: "Go to Runs" }).waitFor();
    await expectAccessible(page);
  });
});
