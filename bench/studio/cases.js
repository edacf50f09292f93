// Frames of the canvas while somebody moves it, beside frames in which nothing changes. What a case is says ../rounds.js.
import { openCanvas } from "./page.js";

/** Frames of a sample. */
const FRAMES = 120;

/** Milliseconds of a frame by nodes: the median and the 95th of 100. */
const BARS = { 1000: [17, 34], 5000: [20] };

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

/** Times of frames, in the page. */
async function sample([move, count]) {
  const surface = document.querySelector(".canvas-surface");
  const act = move === "" ? () => undefined : new Function(`return ${move}`)();
  const times = [];
  let before = await new Promise((next) => requestAnimationFrame(next));
  for (let at = 0; at < count; at += 1) {
    act({ surface, at });
    const now = await new Promise((next) => requestAnimationFrame(next));
    times.push(now - before);
    before = now;
  }
  return times;
}

function canvasCase({ move, nodes, zoom }) {
  const [median, most] = BARS[nodes];
  return {
    what: `${move}, ${nodes.toLocaleString("en")} nodes, ${zoom}: a frame`,
    bars: { "no change": null },
    samples: 3,
    warmMs: 1,
    async prepare() {
      const { page, close } = await openCanvas(nodes);
      const press = (name) => page.getByRole("button", { name }).click();
      await press("Fit");
      for (let count = 0; count < ZOOMS[zoom][nodes]; count += 1) await press("Zoom in");
      await page.waitForTimeout(500);
      const times = [];
      const frames = (code) => page.evaluate(sample, [code, FRAMES]);
      return {
        contenders: {
          "no change": async () => at(await frames(""), 0.5),
          millrace: async () => {
            const found = await frames(MOVES[move].toString());
            times.push(...found);
            return at(found, 0.5);
          },
        },
        facts: () => ({
          "ms, median": { value: at(times, 0.5), bar: median },
          ...(most &&
            move !== "states" && { "ms, 95th of 100": { value: at(times, 0.95), bar: most } }),
        }),
        close,
      };
    },
  };
}

/** The value at a share of a list. */
function at(list, share) {
  const sorted = [...list].sort((a, b) => a - b);
  return Number(sorted[Math.floor((sorted.length - 1) * share)].toFixed(1));
}

export const cases = Object.fromEntries(
  Object.keys(MOVES).flatMap((move) =>
    [1_000, 5_000].flatMap((nodes) =>
      Object.keys(ZOOMS).map((zoom) => [
        `${move} ${nodes / 1_000}k ${zoom}`,
        { ...canvasCase({ move, nodes, zoom }), isLong: nodes > 1_000 },
      ]),
    ),
  ),
);
