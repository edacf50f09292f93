// Law L10 in one process for some families of texts: what twice the text takes, as a multiple. A ratio past the bar is taken
// again, for garbage is not collected evenly, and the lower quarter counts: quadratic work shows 4x every time. Times are those of the processor.
// Usage: node growth.js <units> <family>…
import { formatFlow, parseFlow, validateFlow } from "@millrace/dsl";
import { catalog } from "./corpus.js";
import { hostile } from "./hostile.js";

const GROWTH_BAR = 2.6;
const MIN_MS = 100; // below, the clock and the collector are all that is seen
const AGAIN = 7;
const EVERY_ERROR = { maxErrors: Number.POSITIVE_INFINITY };

const [length, ...families] = process.argv.slice(2);
const units = Number(length);

/** What is done with a text, and how many of the units it gets: reports of every error take memory, checking takes long. */
const operations = {
  parse: [1, parseFlow],
  format: [1, formatFlow],
  "parse, every error": [1 / 50, (text) => parseFlow(text, EVERY_ERROR)],
  validate: [1 / 10, (text) => validateFlow(parseFlow(text).graph, catalog)],
};

function time(work, text) {
  const started = process.cpuUsage();
  work(text);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

const at = (list, share) => [...list].sort((a, b) => a - b)[Math.floor(list.length * share)];
const median = (list) => at(list, 1 / 2);
const quarter = (list) => at(list, 1 / 4);

const texts = families.flatMap((family) =>
  Object.entries(hostile[family]).map(([place, make]) => ({ family, place, make })),
);
for (const { family, place, make } of texts) {
  for (const [operation, [part, work]] of Object.entries(operations)) {
    if (operation === "validate" && family !== "well-formed") continue;
    const [half, whole] = [0.5, 1].map((factor) => make(units * part * factor));
    whole.charCodeAt(0); // what is repeated is one piece of memory from here on
    half.charCodeAt(0);
    work(make(units * part * 0.1)); // compiled, and its tables made
    const ratios = [];
    const times = [];
    do {
      const twice = time(work, half) + time(work, half); // as much garbage as the whole makes
      times.push(time(work, whole));
      ratios.push(times.at(-1) < MIN_MS ? 1 : (2 * times.at(-1)) / twice);
    } while (quarter(ratios) > GROWTH_BAR && ratios.length < AGAIN);
    const row = {
      family,
      place,
      operation,
      ms: median(times),
      growth: quarter(ratios),
      bars: { growth: GROWTH_BAR, ...(operation === "parse" && units >= 1e7 && { workMs: 1_000 }) },
    };
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}
