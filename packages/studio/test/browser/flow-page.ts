/** What tests of the screen of a flow do again and again. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { TestServer } from "./server.ts";
import type { OpenOptions, Studio } from "./studio.ts";

/** A flow with an input, a reference, an edge and comments. */
export const GREETING = `# Greets somebody.
flow 1 greeting

input name: string = "world" {
  description = "Who is greeted"
}

# Puts the words together.
node words: transform {
  value = "Hello, \${inputs.name}!"
}

# Says them.
node say: log {
  message = words.value
}

node done: log {
  message = "done"
}

say -> done

output text: string = words.value
`;

/** Stores the flow `greeting`, and opens it. */
export async function openGreeting(
  studio: Studio,
  { url, client }: TestServer,
  options: OpenOptions = {},
): Promise<Page> {
  await client.invoke("save_template", { slug: "greeting", dsl: GREETING });
  return studio.open(url, { place: "#/flows/greeting", ...options });
}

/** Waits until the status "Notifications" says something. */
export function notified(page: Page, text: string): Promise<void> {
  return page.getByRole("status", { name: "Notifications" }).getByText(text).waitFor();
}

/** The textbox "Flow text". */
export function textbox(page: Page): Locator {
  return page.getByRole("textbox", { name: "Flow text" });
}

/** Replaces the text, as somebody does who pastes another one. */
export async function fillText(page: Page, text: string): Promise<void> {
  await textbox(page).press("Control+a");
  await page.keyboard.insertText(text);
}

/** The text as the editor has it; long texts are not in the document as a whole, so it is read from the file that is exported. */
export async function textOf(page: Page): Promise<string> {
  await page.getByRole("button", { name: "More" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Export .flow" }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Waits until the text is this one. */
export async function untilText(page: Page, expected: string): Promise<void> {
  await expect.poll(() => textOf(page), { interval: 100 }).toBe(expected);
}

/** A node in the tree. */
export function treeitem(page: Page, name: string): Locator {
  return page.getByRole("tree", { name: "Nodes" }).getByRole("treeitem", { name, exact: true });
}
