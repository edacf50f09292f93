/** X1: a flow of 1,000 nodes and its run, with the keyboard alone. */
import { describeWith } from "@millrace/test-support";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { notified, textbox } from "./flow-page.ts";
import { tabTo } from "./keyboard.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const NODES = 1_000;

/** A flow of many nodes, ten beside each other. */
function bigFlow(count: number): string {
  const nodes = Array.from({ length: count }, (_, at) => {
    const value = at < 10 ? `${at}` : `n${at - 10}.value + 1`;
    return `node n${at}: transform {\n  value = ${value}\n}\n`;
  });
  return ["flow 1 big\n", ...nodes, `output last: int = n${count - 1}.value\n`].join("\n");
}

/** A comment: it changes nothing of the flow. */
const NOTE = "# checked";

/** What the page does between a key and its painted character. */
interface KeyWork {
  /** Messages to its worker. */
  readonly posts: number;
  /** Changes of its elements outside of the editor. */
  readonly changes: number;
  /** Animations of the editor: a page that is always drawing makes a key wait for the frame after the one it is in. */
  readonly animations: number;
}

/** Counts from now on what the page posts to its worker, by kind or by the name of a question, and can count the work of one key. */
async function countWork(page: Page): Promise<{
  posts(name: string): Promise<number>;
  ofKey(key: string): Promise<KeyWork>;
}> {
  const counted = await page.evaluateHandle(() => {
    const posts: Record<string, number> = { all: 0 };
    const open = new Set<unknown>();
    const workers = new WeakSet<Worker>();
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message: {
      kind: string;
      id?: number;
      name?: string;
    }) {
      if (!workers.has(this)) {
        this.addEventListener("message", ({ data }) => open.delete(data.id));
      }
      workers.add(this);
      if (message.kind === "ask") open.add(message.id);
      for (const name of ["all", message.name ?? message.kind])
        posts[name] = (posts[name] ?? 0) + 1;
      postMessage.call(this, message);
    };
    // While the work of a key is counted, what waits for a pause of the typing goes on waiting, however slow the machine is.
    let held: (() => void)[] | undefined;
    const { setTimeout: later } = globalThis;
    Object.assign(globalThis, {
      setTimeout: (task: () => void, ms?: number, ...args: []) =>
        later(() => (held === undefined ? task() : held.push(task)), ms, ...args),
    });
    const painted = (): Promise<void> =>
      new Promise((resolve) => {
        requestAnimationFrame(() => later(resolve));
      });
    let work: Promise<KeyWork> | undefined;
    const workOfNextKey = async (): Promise<KeyWork> => {
      let changes = 0;
      const observer = new MutationObserver((records) => (changes += records.length));
      const everything = { subtree: true, childList: true, attributes: true, characterData: true };
      observer.observe(document, everything);
      const before = posts["all"] ?? 0;
      await new Promise((done) => addEventListener("input", done, { capture: true, once: true }));
      await painted();
      observer.disconnect();
      const roots = [...document.querySelectorAll(".editor")].map((each) => each.shadowRoot);
      const animations = roots.reduce((n, root) => n + (root?.getAnimations().length ?? 0), 0);
      for (const task of held ?? []) later(task);
      held = undefined;
      return { posts: (posts["all"] ?? 0) - before, changes, animations };
    };
    return {
      posts,
      /** Resolves when nothing goes on any more, and the next key is counted. */
      async listen(): Promise<void> {
        held = [];
        while (open.size > 0) await painted();
        await painted();
        work = workOfNextKey();
      },
      work: () => work,
    };
  });
  return {
    posts: (name) => counted.evaluate(({ posts }, key) => posts[key] ?? 0, name),
    async ofKey(key) {
      await counted.evaluate(({ listen }) => listen());
      await page.keyboard.press(key);
      const work = await counted.evaluate((all) => all.work());
      if (work === undefined) throw new Error("nobody listened");
      return work;
    },
  };
}

const BIG = { slug: "big", name: "Big", description: "", dsl: bigFlow(NODES) };

describeWith("chromium")("a flow of 1,000 nodes", () => {
  const studio = useStudio();

  const tree = (page: Page): Locator => page.getByRole("tree", { name: "Nodes" });

  test("is walked through, renamed, saved and run with the keyboard alone", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", BIG);
    const page = await studio.open(server.url, { reducedMotion: "reduce" });
    await page.getByRole("link", { name: "big" }).waitFor();
    await tabTo(page, page.getByRole("link", { name: "big" }));
    await page.keyboard.press("Enter");
    await tree(page).getByRole("treeitem", { name: "n0, transform" }).waitFor();

    await textbox(page).focus();
    await expect.poll(() => textbox(page).evaluate((text) => text.matches(":focus"))).toBe(true);
    await page.keyboard.press("Control+End");
    const { posts, ofKey } = await countWork(page);
    await page.keyboard.type(NOTE);
    await expect.poll(() => posts("problems")).toBeGreaterThan(0);
    // What is asked of a text waits for a pause of the typing; the cursor was put there before the first key.
    for (const name of ["text", "nodeAt", "read", "problems", "diagnostics", "completions"]) {
      expect(await posts(name)).toBeLessThanOrEqual(NOTE.length + 1);
    }
    await expect.poll(() => textbox(page).evaluate((text) => text.matches(":focus"))).toBe(true);
    expect(await ofKey("!")).toEqual({ posts: 0, changes: 0, animations: 0 });

    await tabTo(page, page.getByRole("region", { name: "Canvas" }));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("+");
    await tabTo(page, tree(page));
    await page.keyboard.press("Home");
    await page.getByRole("treeitem", { name: "n0, transform", selected: true }).waitFor();
    for (let press = 0; press < 40; press += 1) await page.keyboard.press("ArrowDown");
    await page.getByRole("treeitem", { name: "n40, transform", selected: true }).waitFor();
    await page.keyboard.press("Alt+ArrowDown");
    await page.getByRole("treeitem", { name: "n50, transform", selected: true }).waitFor();
    await page.keyboard.press("Alt+ArrowUp");
    await page.getByRole("treeitem", { name: "n40, transform", selected: true }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("treeitem", { name: "n999, transform", selected: true }).waitFor();
    await page.keyboard.type("n777");
    const found = page.getByRole("treeitem", { name: "n777, transform", selected: true });
    await found.waitFor();
    await expect.poll(() => found.getAttribute("aria-posinset")).toBe("778");
    await expect.poll(() => found.getAttribute("aria-setsize")).toBe(`${NODES}`);
    await expect.poll(() => new URL(page.url()).hash).toBe("#/flows/big?node=n777");

    await page.keyboard.press("F2");
    const rename = page.getByRole("dialog", { name: "Rename node" });
    await rename.waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("middle");
    await page.keyboard.press("Enter");
    await tree(page).getByRole("treeitem", { name: "middle, transform" }).waitFor();
    await rename.waitFor({ state: "detached" });
    await page.keyboard.press("Control+s");
    await notified(page, "Saved version 2");
    const { dsl } = await server.client.invoke("get_template", { slug: "big" });
    expect(dsl).toContain("value = middle.value + 1");

    await page.keyboard.press("Control+Enter");
    const status = page.getByRole("status", { name: "Run status" });
    await status.getByText("succeeded").waitFor();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/runs\/run_/);
    await tabTo(page, tree(page));
    await page.keyboard.type("middle");
    await page
      .getByRole("treeitem", { name: "middle, transform, succeeded", selected: true })
      .waitFor();
    await page.keyboard.press("Enter");
    const details = page.getByRole("tablist", { name: "Node details" });
    await details.waitFor();
    await tabTo(page, details);
    await tabTo(page, page.getByRole("tablist", { name: "Run views" }));
    await page.keyboard.press("End");
    await page.getByRole("tab", { name: "Summary", selected: true }).waitFor();
    await page.keyboard.press("Home");
    await tabTo(page, page.getByRole("slider", { name: "Position" }));
    await page.keyboard.press("Home");
    await tree(page).getByRole("treeitem", { name: "middle, transform, pending" }).waitFor();
    await page.keyboard.press("End");
    await tree(page).getByRole("treeitem", { name: "middle, transform, succeeded" }).waitFor();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });

  test("shows far less of itself in the document than it has", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", BIG);
    const { runId } = await server.client.invoke("start_run", { template: "big", inputs: {} });
    for (const place of ["#/flows/big", `#/runs/${runId}`]) {
      const page = await studio.open(server.url, { place });
      await tree(page).getByRole("treeitem").first().waitFor();
      await page.getByRole("region", { name: "Canvas" }).waitFor();
      const elements = await page.evaluate(() => document.getElementsByTagName("*").length);
      expect(elements).toBeLessThan(3_000);
    }
  });
});
