// A case of the page: what one visit finds, beside the time of a fixed piece of work in the same page, which says how busy the machine is.
import { loadavg } from "node:os";
import { openStudio } from "./studio.js";

/**
 * A case. `flows`: texts by slug, as a function; `visit` is given the studio and answers with facts, the first of which is the time of
 * the case.
 */
export function pageCase({ what, flows = () => ({}), visit }) {
  return {
    what,
    bars: { "JSON.parse of 1 MB": null },
    samples: 1,
    async prepare() {
      const studio = await openStudio(flows());
      const plain = await studio.open("");
      let facts = {};
      return {
        contenders: {
          "JSON.parse of 1 MB": () => plain.evaluate(parseTime),
          async millrace() {
            facts = await visit(studio);
            return Object.values(facts)[0].value;
          },
        },
        facts: () => ({ ...facts, load: loadNow() }),
        close: studio.close,
      };
    },
  };
}

const FRAME_MS = 1_000 / 60;

/** A bar of what is painted: the screen is waited for, `frames` of it, the rest is work of the processor. */
export const paintedBar = (bar, frames) => bar && { bar, work: 1 - (frames * FRAME_MS) / bar };

/** How busy the machine was in the last minute: processes that could have run. */
export function loadNow() {
  return { value: Number(loadavg()[0].toFixed(1)) };
}

/** The value at a share of a list. */
export function at(list, share) {
  const sorted = [...list].sort((a, b) => a - b);
  return rounded(sorted[Math.floor((sorted.length - 1) * share)]);
}

export const rounded = (value) => Number(value.toFixed(1));
export const MIB = 1_048_576;

/** Milliseconds of `JSON.parse` of 1 MB, the median of nine. */
function parseTime() {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, at) => ({ at, text: `text ${at} of a list` })),
  );
  const times = Array.from({ length: 9 }, () => {
    const before = performance.now();
    JSON.parse(text);
    return performance.now() - before;
  });
  return times.sort((a, b) => a - b)[4];
}
