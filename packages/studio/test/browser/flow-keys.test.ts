/** The screen of a flow by keyboard alone, and for everybody while its dialogs are open. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import {
  GREETING,
  notified,
  openGreeting,
  textbox,
  textOf,
  treeitem,
  untilText,
} from "./flow-page.ts";
import { isFocusCovered, nameOfFocus, tabTo } from "./keyboard.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("the screen of a flow", () => {
  const studio = useStudio();

  test("is worked by keys: tree, dialogs, Undo from anywhere, save", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    await treeitem(page, "words, transform").focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => new URL(page.url()).hash).toContain("node=say");
    await page.keyboard.press("Enter");
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await expect
      .poll(() => inspector.evaluate((element) => element === document.activeElement))
      .toBe(true);
    await treeitem(page, "say, log").focus();
    await page.keyboard.press("F2");
    const rename = page.getByRole("dialog", { name: "Rename node" });
    await rename.getByLabel("New name").fill("tell");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    const renamed = GREETING.replace("node say", "node tell").replace("say ->", "tell ->");
    await treeitem(page, "tell, log").waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent?.startsWith("tell, log"));
    await treeitem(page, "words, transform").focus();
    await page.keyboard.press("Delete");
    const remove = page.getByRole("dialog", { name: "Delete words?" });
    await remove.getByText("tell reads this node").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await remove.waitFor({ state: "detached" });

    await page.keyboard.press("Control+s");
    await page.getByText("Saved version 2").waitFor();
    await treeitem(page, "words, transform").focus();
    await page.keyboard.press("Control+z");
    await treeitem(page, "say, log").waitFor();
    await page.keyboard.press("Control+y");
    await untilText(page, renamed);

    await textbox(page).focus();
    await page.keyboard.press("Control+/");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await keys.getByText("Ctrl+Enter").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    expect(await textbox(page).evaluate((text) => text.matches(":focus"))).toBe(true);
    await page.keyboard.type("# back in the text\n");
    await page.keyboard.press("F8"); // there is no problem to go to
    expect(await textOf(page)).toContain("# back in the text");
  });

  test("goes to the problems in turn", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/new" });
    await textbox(page).focus();
    await page.keyboard.insertText(GREETING.replaceAll(": log", ": lgo"));
    const problems = page.getByRole("list", { name: "Problems" }).getByRole("listitem");
    await problems.nth(1).waitFor();
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).focus();
    await page.keyboard.press("F8");
    await page.waitForURL(/node=say/);
    await page.keyboard.press("F8");
    await page.waitForURL(/node=done/);
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await nameOfFocus(page)).toBe("button Run");
    await page.keyboard.press("Enter");
    await notified(page, "Not possible: ");
  });

  test("adds a node from the catalog with what it needs, and connects it", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    await treeitem(page, "say, log").waitFor();
    const add = page
      .getByRole("toolbar", { name: "Flow" })
      .getByRole("button", { name: "Add node" });
    await add.click();
    const dialog = page.getByRole("dialog", { name: "Add node" });
    await dialog.getByLabel("Search").fill("delay");
    await expect.poll(() => dialog.getByLabel("Type").inputValue()).toBe("delay");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await treeitem(page, "delay, delay").waitFor();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByRole("heading", { name: "delay" }).waitFor();
    await inspector.getByRole("combobox", { name: "To" }).selectOption("say");
    await inspector.getByRole("button", { name: "Add edge" }).click();
    await inspector.getByRole("button", { name: "Remove the edge out to say" }).waitFor();
    expect(await textOf(page)).toMatch(/node delay: delay \{[\s\S]*delay -> say/);
    await page.getByText("No problems.").waitFor();

    // The example of this type reads what this flow does not have.
    await add.click();
    await dialog.getByLabel("Search").fill("transform");
    await page.keyboard.press("Enter");
    await treeitem(page, "transform, transform").waitFor();
    await page.getByText("No problems.").waitFor();
    expect(await textOf(page)).toContain('node transform: transform {\n  value = ""\n}');

    // What goes away leaves the focus to what is beside it.
    await treeitem(page, "delay, delay").click();
    await inspector.getByRole("button", { name: "Remove the edge out to say" }).press("Enter");
    await expect.poll(() => nameOfFocus(page)).toBe("button Add edge");
    await inspector.getByRole("button", { name: "Delete node" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
    await expect.poll(() => nameOfFocus(page)).toBe("aside Inspector");
  });

  test("has panes that are sized by keys and can be hidden, also after a reload", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    const border = page.getByRole("separator", { name: "Width of the canvas" });
    await border.focus();
    await page.keyboard.press("End");
    await expect.poll(() => border.getAttribute("aria-valuenow")).toBe("55");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => border.getAttribute("aria-valuenow")).toBe("53");
    await page.emulateMedia({ forcedColors: "active" });
    const ground = (element: Element) => getComputedStyle(element).backgroundColor;
    expect(await border.evaluate(ground)).not.toBe(await page.locator("body").evaluate(ground));
    await page.emulateMedia({ forcedColors: "none" });
    await tabTo(page, page.getByRole("complementary", { name: "Inspector" }));
    await page.getByRole("button", { name: "More" }).press("ArrowDown");
    await expectAccessible(page);
    await page.getByRole("menuitemcheckbox", { name: "Show Inspector" }).click();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await expect.poll(() => inspector.isVisible()).toBe(false);
    await page.reload();
    await textbox(page).waitFor();
    await expect.poll(() => border.getAttribute("aria-valuenow")).toBe("53");
    await expect.poll(() => inspector.isVisible()).toBe(false);

    await page.setViewportSize({ width: 320, height: 256 }); // 400 % of a common window
    await page.getByRole("button", { name: "More" }).press("ArrowDown");
    await page.getByRole("menuitem", { name: "Save with details…" }).press("Enter");
    for (const field of ["Slug", "Name", "Description", "Tags"]) {
      await tabTo(page, page.getByLabel(field));
      expect(await isFocusCovered(page), field).toBe(false);
    }
  });
});
