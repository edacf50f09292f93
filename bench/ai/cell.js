// One round of one case in one process of its own: the contenders in turn, in random order, and the median of each as JSON.
// Usage: node cell.js <case>
import { cases } from "./cases.js";

const WARM_MS = 400; // long enough for the optimising compiler to have seen the code

const { prepare, samples } = cases[process.argv[2]];
const { contenders, facts, close } = await prepare();
const times = Object.fromEntries(Object.keys(contenders).map((who) => [who, []]));

async function turn(keep) {
  const order = Object.keys(contenders).sort(() => Math.random() - 0.5);
  for (const who of order) {
    const ms = await contenders[who]();
    if (keep) times[who].push(ms);
  }
}

const warm = performance.now() + WARM_MS;
do await turn(false);
while (performance.now() < warm);
for (let i = 0; i < samples; i++) await turn(true);
await close?.();

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ms = Object.fromEntries(Object.entries(times).map(([who, list]) => [who, median(list)]));
process.stdout.write(`${JSON.stringify({ ms, facts: facts?.() })}\n`);
