/** S11: changes that are made in the picture are changes of the text. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { GREETING, openGreeting, textbox, textOf, treeitem, untilText } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a change in the picture", () => {
  const studio = useStudio();

  test("renames, deletes and moves in the text; three steps of Undo bring its bytes back", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await treeitem(page, "words, transform").click();
    await inspector.getByRole("button", { name: "Rename node" }).click();
    const dialog = page.getByRole("dialog", { name: "Rename node" });
    await dialog.getByLabel("New name").fill("say");
    await dialog.getByRole("button", { name: "Rename", exact: true }).click();
    await dialog.getByRole("alert").getByText("say is the name of another node").waitFor();
    await dialog.getByLabel("New name").fill("sentence");
    await dialog.getByRole("button", { name: "Rename", exact: true }).click();
    const renamed = GREETING.replace("node words", "node sentence").replaceAll(
      "words.value",
      "sentence.value",
    );
    await untilText(page, renamed);
    await treeitem(page, "sentence, transform").waitFor();

    await treeitem(page, "done, log").click();
    await inspector.getByRole("button", { name: "Delete node" }).click();
    await page
      .getByRole("dialog", { name: "Delete done?" })
      .getByRole("button", { name: "Delete" })
      .click();
    await treeitem(page, "done, log").waitFor({ state: "detached" });
    const deleted = await textOf(page);
    expect(deleted).not.toContain("done");
    expect(deleted).toContain("# Says them.\nnode say: log");

    await treeitem(page, "say, log").click();
    const position = inspector.getByRole("group", { name: "Position" });
    await position.getByLabel("X").fill("300");
    await position.getByLabel("Y").fill("40");
    await position.getByLabel("Y").press("Enter");
    await untilText(page, `${deleted}\nlayout {\n  say = [300, 40]\n}\n`);
    await page.getByRole("region", { name: "Canvas" }).waitFor();

    await textbox(page).press("Control+z");
    await untilText(page, deleted);
    await textbox(page).press("Control+z");
    await untilText(page, renamed);
    await textbox(page).press("Control+z");
    await untilText(page, GREETING);
    await treeitem(page, "words, transform").waitFor();
  });

  test("moves a node that is dragged, in one step of Undo", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    await treeitem(page, "say, log").waitFor();
    const card = page.getByRole("region", { name: "Canvas" }).getByText("say", { exact: true });
    const { x = 0, y = 0 } = (await card.boundingBox()) ?? {};
    await page.mouse.move(x + 4, y + 4);
    await page.mouse.down();
    await page.mouse.move(x + 40, y + 20, { steps: 4 });
    await page.mouse.up();
    await page.getByText("not saved").waitFor();
    const moved = await textOf(page);
    expect(moved).toMatch(/\nlayout \{\n {2}say = \[\d+, \d+\]\n\}\n$/);
    expect(moved.startsWith(GREETING)).toBe(true);
    await textbox(page).press("Control+z");
    await untilText(page, GREETING);
  });

  test("sets fields by expressions and plain controls, and refuses what is no expression", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server, { place: "#/flows/greeting?node=say" });
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    const message = inspector.getByRole("textbox", { name: "message" });
    await message.fill("words.va");
    await page.getByRole("option", { name: "value" }).click();
    await message.pressSequentially(' + "!"');
    await message.press("Enter");
    const changed = GREETING.replace("message = words.value", 'message = words.value + "!"');
    await untilText(page, changed);
    await message.fill("words.value +");
    await message.press("Enter");
    await inspector.getByRole("alert").getByText("expected a value, found line end").waitFor();
    await expect.poll(() => message.getAttribute("aria-invalid")).toBe("true");
    expect(await textOf(page)).toBe(changed);
    await message.press("Escape");
    await inspector.getByText(/more fields?$/).click();
    await inspector.getByRole("combobox", { name: "level" }).selectOption({ label: "warn" });
    await untilText(page, changed.replace('+ "!"', '+ "!"\n  level = "warn"'));
  });
});
