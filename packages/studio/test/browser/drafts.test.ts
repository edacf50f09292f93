/** What is typed is never lost: not by a reload, not by a token that is revoked, not by a text that is too long. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fillText, GREETING, textbox, textOf, treeitem, untilText } from "./flow-page.ts";
import { spawnServer, startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const CHANGED = GREETING.replace('"done"', '"changed"');
const TOKEN = "first-token-that-is-long-enough";
const SECOND = "second-token-that-is-long-enough";

describeWith("chromium")("what is typed", () => {
  const studio = useStudio();

  test("is there after a reload, until it is discarded", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "greeting", dsl: GREETING });
    const page = await studio.open(server.url, { place: "#/flows/greeting" });
    await treeitem(page, "say, log").waitFor();
    await fillText(page, CHANGED);
    await page.getByText("not saved").waitFor();
    await page.reload();
    await page.getByText(/^Draft of \d\d:\d\d restored/).waitFor();
    expect(await textOf(page)).toBe(CHANGED);
    await page.getByRole("button", { name: "Discard draft" }).click();
    await untilText(page, GREETING);
    await page.reload();
    await treeitem(page, "say, log").waitFor();
    await expect.poll(() => page.getByText(/^Draft of/).count()).toBe(0);
  });

  test("is not kept where it looks as if it held a credential, which the page says", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/new" });
    const key = `sk-proj-${"a1B2".repeat(8)}`;
    await fillText(page, GREETING.replace('"done"', `"${key}"`));
    await page.getByText("is not kept as a draft").waitFor();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(key);
  });

  test("stays when the token is revoked, and is saved after another sign-in", async () => {
    await using server = await spawnServer({ tokens: [TOKEN] });
    await server.client.invoke("save_template", { slug: "greeting", dsl: GREETING });
    const page = await studio.open(server.url, {
      place: "#/flows/greeting",
      expected: [/status of 401/],
    });
    await page.getByLabel("Access token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await treeitem(page, "say, log").waitFor();
    await fillText(page, CHANGED);
    await server.restart({ tokens: [SECOND] });
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByLabel("Access token").fill(SECOND);
    await page.getByRole("button", { name: "Sign in" }).click();
    await treeitem(page, "say, log").waitFor();
    expect(await textOf(page)).toBe(CHANGED);
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved version 2").waitFor();
  });

  test("stays in a dialog that is open when the token is revoked, and the sign-in can be used", async () => {
    await using server = await spawnServer({ tokens: [TOKEN] });
    const page = await studio.open(server.url, { place: "#/new", expected: [/status of 401/] });
    await page.getByLabel("Access token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await fillText(page, GREETING);
    await page.keyboard.press("Control+s");
    const dialog = page.getByRole("dialog", { name: "Save flow" });
    await dialog.getByLabel("Slug").fill("welcome");
    await server.restart({ tokens: [SECOND] });
    await page.getByLabel("Access token").fill(SECOND);
    await page.keyboard.press("Control+/"); // is a key of the screen that the sign-in covers
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect.poll(() => dialog.getByLabel("Slug").inputValue()).toBe("welcome");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved version 1").waitFor();
  });

  test("stays while the server is gone, and is saved once it is back", async () => {
    await using server = await spawnServer();
    await server.client.invoke("save_template", { slug: "greeting", dsl: GREETING });
    const page = await studio.open(server.url, { place: "#/flows/greeting" });
    await treeitem(page, "say, log").waitFor();
    await server.kill();
    await fillText(page, CHANGED.replace("node say", "node tell").replace("say ->", "tell ->"));
    await treeitem(page, "tell, log").waitFor();
    const save = page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" });
    await save.click();
    await page.getByRole("alert").getByText(/./).first().waitFor();
    await server.restart();
    await save.click();
    await page.getByText("Saved version 2").waitFor();
    expect((await server.client.invoke("export_template", { slug: "greeting" })).text).toContain(
      "node tell",
    );
  });

  test("in a field is saved by a key there, and stays when the screen is left", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "greeting", dsl: GREETING });
    const page = await studio.open(server.url, { place: "#/flows/greeting?node=done" });
    const field = page.getByRole("textbox", { name: "message" });
    const type = async (value: string): Promise<void> => {
      await field.press("Control+a");
      await page.keyboard.insertText(value);
    };
    await type('"changed"');
    await page.keyboard.press("Control+s");
    await page.getByText("Saved version 2").waitFor();
    const stored = await server.client.invoke("get_template", { slug: "greeting" });
    expect(stored.dsl).toBe(CHANGED);
    await type('"left"');
    await page.evaluate(() => location.assign("#/runs"));
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await page.goBack();
    await page.getByText(/^Draft of/).waitFor();
    await untilText(page, GREETING.replace('"done"', '"left"'));
    await type("1 +");
    await treeitem(page, "say, log").click();
    await page.getByText(/^message was not changed: /).waitFor();
  });

  test("has a limit that the page names, and stays as it was", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/new" });
    await fillText(page, GREETING);
    await treeitem(page, "say, log").waitFor();
    await textbox(page).evaluate((content) => {
      const text = "# a long line of a comment\n".repeat(400_000); // 10 MB
      const data = new DataTransfer();
      data.setData("text/plain", text);
      const paste = { clipboardData: data, bubbles: true, cancelable: true };
      content.dispatchEvent(new ClipboardEvent("paste", paste));
    });
    await page
      .getByRole("status", { name: "Notifications" })
      .getByText(
        /Not done: the text would have 10,800,\d+ characters, and a flow has at most 524,288/,
      )
      .waitFor();
    expect(await textOf(page)).toBe(GREETING);
  });
});
