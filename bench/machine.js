// How fast the processor of this machine is beside that of the reference, the machine on which the bars in milliseconds were stated: the
// time of a fixed piece of plain JavaScript of the kinds that our code is made of, in a process of its own.
// Usage: node machine.js   Prints the milliseconds of the processor that the work takes.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const REFERENCE_MS = 62; // README.md says from what it is derived
const TIMES = 8; // the fastest counts: what was done, without what was beside it
const ITEMS = 16_000;
const self = fileURLToPath(import.meta.url);

/** How many times as long as the reference this processor takes. Measured once, and handed to the processes of a run. */
export function slowness() {
  process.env.BENCH_SLOWNESS ??= (measured() / REFERENCE_MS).toFixed(2);
  return Number(process.env.BENCH_SLOWNESS);
}

/**
 * What was stated for the reference, as it is here. `work`: the share of it that is work of the processor, from 0 to 1, which takes as many
 * times as long as the processor is slow; the rest waits for a timer, a screen or a disk. On a faster machine it stays as it was stated.
 */
export function here(stated, work = 0) {
  const factor = work === 0 ? 1 : 1 + work * (Math.max(1, slowness()) - 1);
  return factor === 1 ? stated : Number((stated * factor).toPrecision(3));
}

function measured() {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };
  const { stdout, stderr, status } = spawnSync(process.execPath, [self], { encoding: "utf8", env });
  if (status !== 0) throw new Error(`machine.js: exit ${status}\n${stderr}`);
  return Number(stdout);
}

/** A document is read, closures are made of its nodes and called in turn, and what each answers is written. */
async function work(document) {
  const nodes = new Map(JSON.parse(document).map((node) => [node.id, node]));
  const steps = new Map();
  for (const { id, fields, after } of nodes.values())
    steps.set(id, async (results) => {
      const sum = after.reduce((all, from) => all + (results.get(from)?.sum ?? 0), fields.retries);
      return { ...fields, id, sum: sum % 1_000, from: after.join(" ") };
    });
  const results = new Map();
  for (const [id, step] of steps) results.set(id, await step(results));
  return JSON.stringify([...results.values()]);
}

if (process.argv[1] === self) {
  const { spent } = await import("./collect.js"); // gives its process a flag
  const document = JSON.stringify(
    Array.from({ length: ITEMS }, (_, at) => ({
      id: `n${at}`,
      type: at % 3 === 0 ? "http.request" : "transform",
      fields: { url: `https://example.org/items/${at}`, retries: at % 5, when: at % 2 === 0 },
      after: [`n${at >> 1}`, `n${at >> 2}`],
    })),
  );
  let fastest = Number.POSITIVE_INFINITY;
  for (let time = 0; time < TIMES; time += 1) {
    fastest = Math.min(fastest, await spent(() => work(document)));
  }
  process.stdout.write(`${fastest}\n`);
}
