/** Two pages save one flow: what one of them has stored is never overwritten without a question. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { fillText, GREETING, textbox, textOf, treeitem, untilText } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const OURS = GREETING.replace('message = "done"', 'message = "ours"');
const THEIRS = GREETING.replace('message = "done"', 'message = "theirs \u202e"');
const CHANGED = [/status of 412/];

const save = (page: Page): Promise<void> =>
  page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).click();
const notified = (page: Page, text: string): Promise<void> =>
  page.getByRole("status", { name: "Notifications" }).getByText(text).waitFor();

describeWith("chromium")("two pages of one flow", () => {
  const studio = useStudio();

  test("the later save asks, shows what differs, and keeps mine or takes theirs", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "greeting", dsl: GREETING });
    const page = await studio.open(server.url, { place: "#/flows/greeting", expected: CHANGED });
    const other = await studio.open(server.url, { place: "#/flows/greeting", expected: CHANGED });
    for (const each of [page, other]) await treeitem(each, "say, log").waitFor();
    await fillText(other, THEIRS);
    await save(other);
    await notified(other, "Saved version 2");

    await fillText(page, OURS);
    await save(page);
    const dialog = page.getByRole("dialog", { name: "Changed on the server" });
    await dialog.getByRole("textbox", { name: "Your text against version 2" }).waitFor();
    await dialog.getByText('"theirs \\u202e"').first().waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await textOf(page)).toBe(OURS);
    expect((await server.client.invoke("get_template", { slug: "greeting" })).version).toBe(2);

    await save(page);
    await dialog.getByRole("button", { name: "Keep mine" }).click();
    await notified(page, "Saved version 3");
    await dialog.waitFor({ state: "detached" });
    expect((await server.client.invoke("export_template", { slug: "greeting" })).text).toBe(OURS);

    await fillText(other, GREETING.replace('message = "done"', 'message = "third"'));
    await save(other);
    await other
      .getByRole("dialog", { name: "Changed on the server" })
      .getByRole("button", { name: "Take theirs" })
      .click();
    await untilText(other, OURS);
    await textbox(other).press("Control+z");
    expect(await textOf(other)).toContain("third");
    expect((await server.client.invoke("get_template", { slug: "greeting" })).version).toBe(3);
  });

  test("lists the versions, compares, opens an old one to read, and restores it", async () => {
    const dir = temporaryFolder();
    // A file of Windows, whose line ends are no changes.
    writeFileSync(join(dir, "greeting.flow"), GREETING.replaceAll("\n", "\r\n"));
    await using server = await startServer({ flows: { dir } });
    await server.client.invoke("save_template", { slug: "greeting", dsl: OURS, ifMatch: "*" });
    const page = await studio.open(server.url, { place: "#/flows/greeting" });
    await treeitem(page, "say, log").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Versions…" }).click();
    const dialog = page.getByRole("dialog", { name: "Versions of greeting" });
    const rows = dialog.getByRole("list", { name: "Versions" }).getByRole("listitem");
    await rows.first().waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await dialog.getByRole("button", { name: "Compare version 1" }).click();
    const changes = dialog.getByRole("textbox", { name: "Changes since version 1" });
    await changes.getByText('"ours"').first().waitFor();
    expect(await changes.textContent()).not.toContain("\\u000d");
    await expectAccessible(page);
    await dialog.getByRole("link", { name: "Open version 1" }).click();
    await page.getByText("Version 1 is read-only.").waitFor();
    expect(await textOf(page)).toBe(GREETING);
    const toolbar = page.getByRole("toolbar", { name: "Flow" });
    await expect.poll(() => toolbar.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await textbox(page).pressSequentially("x");
    expect(await textOf(page)).toBe(GREETING);
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await notified(page, "Saved version 3");
    await page.waitForURL(/#\/flows\/greeting$/);
    await untilText(page, GREETING);
  });
});
