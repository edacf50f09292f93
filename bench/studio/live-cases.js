// A run that is looked at while it goes on.
import { createView, foldEvents } from "@millrace/contracts";
import { sized } from "../size.js";
import { busyFlow } from "./flows.js";
import { at, MIB, pageCase, paintedBar, rounded } from "./measured.js";
import { openDoor } from "./paced.js";
import { endedRun, heapOf, timed } from "./studio.js";

const PER_SECOND = 10_000;
const SECONDS = sized(10, 1);

/** Listens for the next click on an item of the tree; resolves after the first frame in which the item is selected. */
const ITEM_SELECTED = `(async () => {
  const click = await new Promise((done) => addEventListener("click", done, { capture: true, once: true }));
  const row = click.target.closest('[role="treeitem"]');
  const end = await probe.until(() => row.getAttribute("aria-selected") === "true");
  return end - click.timeStamp;
})()`;

/** Clicks on items of the tree, in turn; milliseconds from each click to the frame in which the item is selected. */
async function clickItems(page, names, isOver) {
  const times = [];
  for (let count = 0; !isOver(); count += 1) {
    const name = names[count % names.length];
    const item = page.getByRole("treeitem", { name }).first();
    const box = await item.boundingBox();
    await page.waitForTimeout(300);
    const press = () => page.mouse.click(box.x + 60, box.y + box.height / 2);
    times.push(await timed(page, ITEM_SELECTED, press));
  }
  return times;
}

const live = pageCase({
  what: `a run of ${PER_SECOND.toLocaleString("en")} events a second for ${SECONDS} s, its tree clicked meanwhile`,
  async visit(studio) {
    const { client } = studio;
    const runId = await endedRun(client, { dsl: busyFlow(PER_SECOND * SECONDS) });
    const run = await client.invoke("get_run", { runId });
    const events = [];
    const view = createView(runId);
    for await (const event of client.runEvents(runId)) {
      events.push(event);
      foldEvents(view, event);
    }
    const door = await openDoor({ url: studio.url, run, events, perSecond: PER_SECOND });
    try {
      const page = await studio.open(`#/runs/${runId}`, door.url);
      await page.getByRole("treeitem", { name: "part0" }).waitFor();
      await page.waitForTimeout(1_000);
      const before = await heapOf(page);
      const start = await page.evaluate("performance.now()");
      door.pace.start();
      let isOver = false;
      const ended = door.pace.end.then(() => {
        isOver = true;
      });
      const clicks = await clickItems(page, ["part0", "part1"], () => isOver);
      await ended;
      await page.getByRole("status", { name: "Run status" }).getByText("succeeded").waitFor();
      const task = await page.evaluate(`probe.longestTask(${start})`);
      const heap = (await heapOf(page)) - before;
      return {
        "longest task": { value: task, bar: 200, work: 1 },
        "click, slowest": { value: at(clicks, 1), ...paintedBar(100, 1) },
        "click, median": { value: at(clicks, 0.5) },
        "heap, MiB": { value: rounded(heap / MIB), bar: 64 },
        "not as the fold": { value: await differences(page, view, events.length), bar: 0 },
        "events a second": {
          value: Math.round((events.length / door.pace.ms) * 1_000),
          least: PER_SECOND * 0.95,
        },
      };
    } finally {
      door.close();
    }
  },
});

/** In how much the page differs from the fold of the log: states of nodes, and the number of events. */
async function differences(page, view, count) {
  const shown = await page
    .getByRole("treeitem", { name: /^part\d, map/ })
    .locator(".visually-hidden")
    .allTextContents();
  const folded = [...view.nodes]
    .filter(([path]) => !path.includes("/"))
    .map(([path, { type, state }]) => `${path}, ${type}, ${state}`);
  await page.getByRole("tab", { name: "Events" }).click();
  const table = page.getByRole("table", { name: "Events" });
  const rows = Number(await table.getAttribute("aria-rowcount")) - 1;
  return folded.filter((name) => !shown.includes(name)).length + (rows === count ? 0 : 1);
}

export const cases = { live };
