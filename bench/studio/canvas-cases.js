// Frames of the canvas while somebody moves it, beside frames in which nothing changes. What a case is says ../rounds.js.
import { sized, smoke } from "../size.js";
import { openCanvas } from "./canvas.js";
import { at, loadNow } from "./measured.js";

/** Frames of a sample. */
const FRAMES = sized(120, 4);

/** Milliseconds of a frame by nodes: the median and the 95th of 100, and the longest task. */
const BARS = { 1000: [17, 34, 50], 5000: [20] };

/** Presses of "Zoom in" after "Fit": none shows the whole picture, the others show cards. */
const ZOOMS = { fitted: { 1000: 0, 5000: 0 }, near: { 1000: 16, 5000: 24 } };

/** What happens in each frame. */
const MOVES = {
  pan: ({ surface, at }) =>
    surface.dispatchEvent(
      new WheelEvent("wheel", {
        deltaX: at % 40 < 20 ? 10 : -10,
        deltaY: at % 120 < 60 ? 12 : -12,
        bubbles: true,
        cancelable: true,
      }),
    ),
  zoom: ({ surface, at }) =>
    surface.dispatchEvent(
      new WheelEvent("wheel", {
        deltaY: at % 120 < 60 ? -3 : 3,
        ctrlKey: true,
        clientX: 800,
        clientY: 400,
        bubbles: true,
        cancelable: true,
      }),
    ),
  states: ({ at }) => globalThis.guest.states(at),
};

/** Times of frames and the longest task, in the page. */
async function sample([move, count]) {
  const surface = document.querySelector(".canvas-surface");
  const act = move === "" ? () => undefined : new Function(`return ${move}`)();
  const times = [];
  const start = performance.now();
  let before = await new Promise((next) => requestAnimationFrame(next));
  for (let at = 0; at < count; at += 1) {
    act({ surface, at });
    const now = await new Promise((next) => requestAnimationFrame(next));
    times.push(now - before);
    before = now;
  }
  await globalThis.probe.painted();
  return { times, task: globalThis.probe.longestTask(start) };
}

function canvasCase(nodes) {
  const [median, most, task] = BARS[nodes];
  return {
    what: `${Object.keys(MOVES).join(", ")}, ${nodes.toLocaleString("en")} nodes: a frame, of ${FRAMES}; fitted and near`,
    bars: { "no change": null },
    samples: 1,
    async prepare() {
      const { page, close } = await openCanvas(sized(nodes, 50));
      const press = (name) => page.getByRole("button", { name }).click();
      const frames = (code) => page.evaluate(sample, [code, FRAMES]);
      const look = async (zoom) => {
        await press("Fit");
        for (let count = 0; count < ZOOMS[zoom][nodes]; count += 1) await press("Zoom in");
        await page.waitForTimeout(500);
      };
      const facts = {};
      const measure = async (zoom, move) => {
        const found = await frames(MOVES[move].toString());
        const value = at(found.times, 0.5);
        facts[`${move} ${zoom}, median`] = { value, bar: median };
        // Ten thousand changed states a second are measured, and have a bar for the median alone.
        const isMoved = most !== undefined && move !== "states";
        const rest = { "95th": [at(found.times, 0.95), most], task: [found.task, task] };
        for (const [name, [value, bar]] of Object.entries(rest)) {
          facts[`${move} ${zoom}, ${name}`] = { value, ...(isMoved && { bar }) };
        }
        return value;
      };
      return {
        contenders: {
          "no change": async () => at((await frames("")).times, 0.5),
          async millrace() {
            let slowest = 0;
            for (const zoom of Object.keys(ZOOMS)) {
              await look(zoom); // each move ends where it began
              for (const move of Object.keys(MOVES)) {
                slowest = Math.max(slowest, await measure(zoom, move));
              }
            }
            return slowest;
          },
        },
        facts: () => ({ ...facts, load: loadNow() }),
        close,
      };
    },
  };
}

export const cases = {
  "canvas 1k": { ...canvasCase(1_000), isLong: !smoke }, // the larger flow has the same bars
  "canvas 5k": { ...canvasCase(5_000), isTwin: true },
};
