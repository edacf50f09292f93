// Hands on the page: keys in the text of a flow, and clicks on what answers.
import { sized } from "../size.js";
import { longFlow, wideFlow } from "./flows.js";
import { at, pageCase, paintedBar } from "./measured.js";
import { endedRun, settled, timed } from "./studio.js";

/** Keys that are timed. */
const KEYS = sized(60, 3);
/** Changes whose problems and picture are timed. */
const CHANGES = sized(8, 1);
/** Milliseconds without a change of the page after which nothing of the keys before is still worked on. */
const LINT_MS = sized(1_000, 200);
/** Milliseconds: a painted key, median and slowest; problems and picture. */
const KEY_BARS = { 1000: [16, 50, 300], 10000: [33, undefined, 800] };

/** Listens for the next key that changes the text; resolves when it was painted. */
const KEY_PAINTED = `(async () => {
  let typed;
  addEventListener("keydown", (event) => { typed ??= event.timeStamp; }, { capture: true, once: true });
  await new Promise((done) => addEventListener("input", done, { capture: true, once: true }));
  return (await probe.painted()) - typed;
})()`;

/** Listens for the next key; resolves when the list of problems differs from what it is now and the canvas has drawn since. */
const ANSWERED = `(async () => {
  const problems = () => document.querySelector(".pane-text")?.textContent;
  const before = problems();
  const event = await new Promise((done) => addEventListener("keydown", done, { capture: true, once: true }));
  const { curves } = probe;
  const end = await probe.until(() => problems() !== before && probe.curves > curves);
  return end - event.timeStamp;
})()`;

const typing = (lines) =>
  pageCase({
    what: `a flow of ${lines.toLocaleString("en")} lines: a key to the painted character, ${KEYS} keys; a key to its problem and picture, ${CHANGES} keys`,
    flows: () => ({ long: longFlow(sized(lines, 100)) }),
    async visit(studio) {
      const [median, slowest, answered] = KEY_BARS[lines];
      const page = await studio.open("#/flows/long");
      await page.getByText("No problems.").waitFor({ timeout: 60_000 });
      const text = page.getByRole("textbox", { name: "Flow text" });
      await text.getByText("# Few are not worth a line.").first().click();
      await page.keyboard.press("End");
      const start = await page.evaluate("performance.now()");
      const painted = [];
      for (let count = 0; count < KEYS; count += 1) {
        await page.waitForTimeout(40 + (count % 7) * 20);
        const press = () => page.keyboard.press(count % 6 === 5 ? "Space" : "e");
        painted.push(await timed(page, KEY_PAINTED, press));
      }
      const task = await page.evaluate(`probe.longestTask(${start})`);
      await settled(page, LINT_MS);
      await text
        .getByText("upper")
        .first()
        .click({ position: { x: 2, y: 5 } });
      await settled(page, LINT_MS);
      const answers = [];
      for (let count = 0; count < CHANGES; count += 1) {
        const press = () => page.keyboard.press(count % 2 === 0 ? "x" : "Backspace");
        answers.push(await timed(page, ANSWERED, press));
        await settled(page, 400);
      }
      return {
        "painted, median": { value: at(painted, 0.5), ...paintedBar(median, 0.5) },
        "painted, slowest": { value: at(painted, 1), ...paintedBar(slowest, 1) },
        "answered, median": { value: at(answers, 0.5), bar: answered },
        "answered, slowest": { value: at(answers, 1) },
        "longest task": { value: task },
      };
    },
  });

/** Listens for the next click; resolves after the first frame in which the document has changed. */
const CLICK_ANSWERED = `(async () => {
  const click = await new Promise((done) => addEventListener("click", done, { capture: true, once: true }));
  let changed = false;
  const observer = new MutationObserver(() => { changed = true; });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const end = await probe.until(() => changed);
  observer.disconnect();
  return end - click.timeStamp;
})()`;

const SCREENS = [
  "Runs",
  "Inbox",
  "Triggers",
  "Connections",
  "Models",
  "Catalog",
  "Hubs",
  "Settings",
  "Flows",
];

const click = pageCase({
  what: "a click to the first frame that answers it: the navigation, and the controls of a flow and a run of 1,000 nodes",
  flows: () => ({ wide: wideFlow(sized(1_000, 50)) }),
  async visit(studio) {
    const runId = await endedRun(studio.client, { template: "wide" });
    const found = [];
    const press = async (page, locator, name) => {
      await locator.hover();
      await settled(page);
      found.push([name, await timed(page, CLICK_ANSWERED, () => locator.click())]);
    };
    const button = (page, name) => page.getByRole("button", { name, exact: true }).first();

    const page = await studio.open("#/flows");
    for (const screen of SCREENS) {
      const link = page
        .getByRole("navigation", { name: "Main" })
        .getByRole("link", { name: screen });
      await press(page, link, screen);
    }
    await press(page, page.getByRole("link", { name: "wide" }).first(), "a flow");
    await page.getByText("No problems.").waitFor();
    await press(page, page.getByRole("treeitem").nth(5), "an item of a flow");
    for (const name of ["Format", "Add node"]) await press(page, button(page, name), name);
    await page.keyboard.press("Escape");

    await page.goto(`${studio.url}/studio#/runs/${runId}`);
    await page.reload();
    await page.getByRole("treeitem", { name: "n1, transform, succeeded" }).waitFor();
    await press(page, page.getByRole("treeitem").nth(5), "an item of a run");
    for (const tab of ["Timeline", "Events", "Summary", "Flow"]) {
      await press(page, page.getByRole("tab", { name: tab, exact: true }), tab);
    }
    const times = found.map(([, ms]) => ms);
    const slowest = found.toSorted(([, a], [, b]) => b - a)[0];
    process.stderr.write(`slowest click: ${slowest[0]}\n`);
    return {
      "slowest, ms": { value: at(times, 1), ...paintedBar(100, 1) },
      "median, ms": { value: at(times, 0.5) },
      clicks: { value: times.length },
    };
  },
});

export const cases = {
  "type 1k": typing(1_000),
  "type 10k": { ...typing(10_000), isTwin: true },
  click,
};
