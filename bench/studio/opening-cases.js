// From an address to what it shows: the first load, flows and runs of many nodes, and a run of many events.
import { studioAssets } from "@millrace/studio";
import { inTime, sized } from "../size.js";
import { busyFlow, wideFlow } from "./flows.js";
import { at, MIB, pageCase, rounded } from "./measured.js";
import { endedRun, heapOf } from "./studio.js";

/** Visits of a case, each in a browser that has nothing of the page. */
const VISITS = sized(inTime(5, 3), 1);
/** Milliseconds from a place to its picture, by nodes. */
const PICTURE_BARS = { 1000: 1_000, 5000: 2_000 };
const EVENTS = sized(200_000, 1_000);

/** The canvas has drawn lines. */
const hasPicture = () => globalThis.probe.curves > 0;
/** The state of the run, its nodes and its picture are there. */
const hasRun = () =>
  globalThis.probe.curves > 0 &&
  document.querySelector('[aria-label="Run status"]')?.textContent.includes("succeeded") &&
  document.querySelector('[role="treeitem"] .node-state[data-state="succeeded"]') !== null;

/** Goes from the list of flows to a place in a new browser; milliseconds until something holds, and the longest task meanwhile. */
async function goTo(studio, hash, isShown) {
  const page = await studio.open("#/flows");
  await page.getByRole("link", { name: "wide" }).first().waitFor();
  const found = await page.evaluate(`(async () => {
    const start = performance.now();
    location.hash = ${JSON.stringify(hash)};
    const end = await probe.until(${isShown});
    await probe.painted();
    return { ms: end - start, task: probe.longestTask(start) };
  })()`);
  return { page, ...found };
}

async function visits(studio, hash, isShown) {
  const found = [];
  for (let count = 0; count < VISITS; count += 1) {
    const { page, ...times } = await goTo(studio, hash, isShown);
    found.push(times);
    await page.context().close();
  }
  const of = (name) => found.map((each) => each[name]);
  return { ms: at(of("ms"), 0.5), task: at(of("task"), 0.5) };
}

/** Gzip bytes of what a place loads, in kB. */
async function bytesOf(studio, place, ready) {
  const page = await studio.open("");
  const loaded = new Set(["/studio"]);
  page.on("request", (request) => loaded.add(new URL(request.url()).pathname));
  await page.goto(`${studio.url}/studio${place}`);
  await page.reload();
  await page.getByText(ready, { exact: true }).first().waitFor();
  await page.context().close();
  const assets = await studioAssets();
  const sizes = [...loaded].map((path) => assets.get(path)?.gzip.byteLength ?? 0);
  return rounded(sizes.reduce((sum, size) => sum + size, 0) / 1_000);
}

const load = pageCase({
  what: `the list of flows in a new browser, from the address to its rows, median of ${VISITS}; gzip kB of what a screen loads`,
  flows: () => ({ wide: wideFlow(10) }),
  async visit(studio) {
    const runId = await endedRun(studio.client, { template: "wide" });
    const times = [];
    for (let count = 0; count < VISITS; count += 1) {
      const page = await studio.open("");
      times.push(
        await page.evaluate(
          `probe.until(() => document.querySelector('main a[href^="#/flows/"]') !== null)`,
        ),
      );
      await page.context().close();
    }
    return {
      "ready, ms": { value: at(times, 0.5), bar: 1_000, work: 1 },
      "list, kB": { value: await bytesOf(studio, "#/flows", "wide"), bar: 75 },
      "run, kB": { value: await bytesOf(studio, `#/runs/${runId}`, "Outputs"), bar: 130 },
      "editor, kB": { value: await bytesOf(studio, "#/flows/wide", "No problems."), bar: 380 },
    };
  },
});

const open = (nodes) =>
  pageCase({
    what: `a flow of ${nodes.toLocaleString("en")} nodes and its run, from the place to the picture, in a new browser, medians of ${VISITS}`,
    flows: () => ({ wide: wideFlow(sized(nodes, 50)) }),
    async visit(studio) {
      const runId = await endedRun(studio.client, { template: "wide" });
      const flow = await visits(studio, "#/flows/wide", hasPicture);
      const run = await visits(studio, `#/runs/${runId}`, hasRun);
      return {
        "flow, ms": { value: flow.ms, bar: PICTURE_BARS[nodes], work: 1 },
        "run, ms": { value: run.ms, bar: PICTURE_BARS[nodes], work: 1 },
        "longest task, flow": { value: flow.task },
        "longest task, run": { value: run.task },
      };
    },
  });

const ended = pageCase({
  what: `an ended run of ${EVENTS.toLocaleString("en")} events, from the place to its state, nodes and picture; the server has not been asked for it before`,
  flows: () => ({ wide: wideFlow(10), busy: busyFlow(EVENTS) }),
  async visit(studio) {
    const runId = await endedRun(studio.client, { template: "busy" });
    const first = await goTo(studio, `#/runs/${runId}`, hasRun);
    const heap = await heapOf(first.page);
    await first.page.context().close();
    const again = await visits(studio, `#/runs/${runId}`, hasRun);
    const { lastSeq } = await studio.client.invoke("get_run", { runId });
    return {
      "first, ms": { value: rounded(first.ms), bar: 2_000, work: 1 },
      "again, ms": { value: again.ms, bar: 2_000, work: 1 },
      "heap, MiB": { value: rounded(heap / MIB), bar: 100 },
      events: { value: lastSeq, least: EVENTS },
    };
  },
});

export const cases = {
  load,
  "open 1k": { ...open(1_000), isTwin: true, isLong: true },
  "open 5k": { ...open(5_000), isTwin: true },
  "ended 200k": ended,
};
