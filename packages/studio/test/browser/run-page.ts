/** The screen of a run as a person finds it: by roles and names. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestServer } from "./server.ts";

/** Starts a run of a text; answers its id. */
export async function startRun(
  { client }: TestServer,
  dsl: string,
  inputs: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  return (await client.invoke("start_run", { dsl, inputs })).runId;
}

/** Starts a run and waits for its end. */
export async function endedRun(
  server: TestServer,
  dsl: string,
  inputs: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const runId = await startRun(server, dsl, inputs);
  for await (const event of server.client.runEvents(runId)) if (event.kind === "summary") break;
  return runId;
}

/** An item of the tree "Nodes" by its whole name. */
export function nodeItem(page: Page, name: string): Locator {
  return page.getByRole("tree", { name: "Nodes" }).getByRole("treeitem", { name, exact: true });
}

/** Waits until the status "Run status" says a word. */
export async function expectRunStatus(page: Page, word: string): Promise<void> {
  await page.getByRole("status", { name: "Run status" }).getByText(word, { exact: true }).waitFor();
}

/** Opens a tab of a list of tabs. */
export async function openTab(page: Page, list: string, tab: string): Promise<void> {
  await page.getByRole("tablist", { name: list }).getByRole("tab", { name: tab }).click();
}

/** Waits until what a key did is drawn: the frame that scrolls, and the one that has other rows. */
function drawn(page: Page): Promise<void> {
  return page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  });
}

/** Every `seq` in the table "Events", read by scrolling through it. */
export async function readSeqs(page: Page): Promise<readonly number[]> {
  const table = page.getByRole("table", { name: "Events" });
  const count = Number(await table.getAttribute("aria-rowcount")) - 1;
  const seqs = new Set<number>();
  const first = table.getByRole("row").nth(1).getByRole("button");
  await table.getByRole("button", { name: "1", exact: true }).or(first).first().focus();
  await page.keyboard.press("Home");
  // A page that is slow to draw may have skipped rows when its end is reached: it is read from its beginning again.
  for (let tries = 1; seqs.size < count && tries < 5 * count; tries += 1) {
    for (const text of await table.getByRole("row").getByRole("button").allTextContents()) {
      seqs.add(Number(text));
    }
    await page.keyboard.press(tries % count === 0 ? "Home" : "PageDown");
    await drawn(page);
  }
  await expect.poll(() => table.getByRole("row").first().getAttribute("aria-rowindex")).toBe("1");
  return [...seqs].sort((a, b) => a - b);
}
