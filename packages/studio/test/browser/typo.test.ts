/** S9: a typo in the name of a node type. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fillText, GREETING, openGreeting, textOf, treeitem, untilText } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const TYPO = GREETING.replace("node say: log", "node say: lgo");

describeWith("chromium")("a typo", () => {
  const studio = useStudio();

  test("is listed with its fix, keeps the flow from running, and is mended in one step", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    const toolbar = page.getByRole("toolbar", { name: "Flow" });
    const run = toolbar.getByRole("button", { name: "Run" });
    await treeitem(page, "say, log").waitFor();
    await expect.poll(() => run.isEnabled()).toBe(true);
    await fillText(page, TYPO);

    const problem = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
    await problem.waitFor();
    await expect
      .poll(() => problem.textContent())
      .toMatch(/FLOW3001.*14:11.*unknown node type lgo/);
    await treeitem(page, "say, lgo, 1 problem").waitFor();
    await expect.poll(() => run.isDisabled()).toBe(true);
    await expect
      .poll(() => run.getAttribute("title"))
      .toMatch(/1 problem has to be mended.*FLOW3001/);

    await toolbar.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("status", { name: "Notifications" })
      .getByText("Saved version 2; it does not run until its problems are mended")
      .waitFor();
    expect((await server.client.invoke("export_template", { slug: "greeting" })).text).toBe(TYPO);
    await page.reload();
    await treeitem(page, "say, lgo, 1 problem").waitFor();

    await problem.getByRole("button", { name: "Go to" }).click();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("x");
    await page.keyboard.press("Control+z");
    await problem.getByRole("button", { name: /^Fix: .*log/ }).click();
    await treeitem(page, "say, log").waitFor();
    await untilText(page, GREETING);
    await expect.poll(() => run.isEnabled()).toBe(true);
    // The focus is on what was mended, not on nothing.
    await page.keyboard.press("Control+z");
    await untilText(page, TYPO);
  });

  test("of a bracket keeps the flow from being saved, and the text stays as a draft", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server, { expected: [/status of 422/] });
    await treeitem(page, "say, log").waitFor();
    const half = GREETING.replace("node say: log {", "node say: log");
    await fillText(page, half);
    await page.getByRole("list", { name: "Problems" }).getByRole("listitem").first().waitFor();
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("kept as a draft in this browser").waitFor();
    expect((await server.client.invoke("get_template", { slug: "greeting" })).version).toBe(1);
    await page.reload();
    await page.getByText(/^Draft of \d\d:\d\d restored/).waitFor();
    expect(await textOf(page)).toBe(half);
  });
});
