/** The page over a folder of flows: a save is in the file, and what somebody else wrote there is never lost. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { fillText, GREETING, notified, treeitem, untilText } from "./flow-page.ts";
import { startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const OURS = GREETING.replace('message = "done"', 'message = "ours"');
const THEIRS = GREETING.replace('message = "done"', 'message = "theirs"');
const BROKEN = GREETING.replace("node say: log {", "node {");

const save = (page: Page): Promise<void> =>
  page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).click();

describeWith("chromium")("the page over a folder", () => {
  const studio = useStudio();
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = temporaryFolder();
    file = join(dir, "greeting.flow");
    writeFileSync(file, GREETING);
  });

  async function open({ url }: TestServer) {
    const page = await studio.open(url, {
      place: "#/flows/greeting",
      expected: [/status of 412/],
    });
    await treeitem(page, "say, log").waitFor();
    return { page, dialog: page.getByRole("dialog", { name: "Changed on the server" }) };
  }

  test("writes the file, and asks when it has changed on the disk", async () => {
    await using server = await startServer({ flows: { dir } });
    const { page, dialog } = await open(server);
    await fillText(page, OURS);
    await save(page);
    await notified(page, "Saved version 2");
    expect(readFileSync(file, "utf8")).toBe(OURS);

    writeFileSync(file, THEIRS);
    await fillText(page, GREETING);
    await save(page);
    await dialog.getByText('"theirs"').first().waitFor();
    expect(readFileSync(file, "utf8")).toBe(THEIRS);
    await dialog.getByRole("button", { name: "Take theirs" }).click();
    await untilText(page, THEIRS);
  });

  test("keeps a text that cannot be read beside the file", async () => {
    await using server = await startServer({ flows: { dir } });
    const { page, dialog } = await open(server);
    writeFileSync(file, BROKEN);
    await fillText(page, OURS);
    await save(page);
    await dialog.getByText(/The server says: greeting\.flow/).waitFor();
    expect(readFileSync(file, "utf8")).toBe(BROKEN);
    await dialog.getByRole("button", { name: "Keep mine" }).click();
    await notified(page, "Saved version 2");
    expect(readFileSync(file, "utf8")).toBe(OURS);
    const [kept = ""] = readdirSync(dir).filter((name) => name.includes(".kept-"));
    expect(readFileSync(join(dir, kept), "utf8")).toBe(BROKEN);
  });
});
