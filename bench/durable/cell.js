// One round of one case in one process of its own: the contenders in turn, in random order, and the median of each as JSON.
// Usage: node cell.js <case>
import { cases } from "./cases.js";

const { prepare, samples } = cases[process.argv[2]];
const { contenders, facts, close } = await prepare();
const found = Object.fromEntries(Object.keys(contenders).map((who) => [who, []]));

async function turn(keep) {
  const order = Object.keys(contenders).sort(() => Math.random() - 0.5);
  for (const who of order) {
    const value = await contenders[who]();
    if (keep) found[who].push(value);
  }
}

if (samples > 1) await turn(false); // what runs once is measured cold
for (let i = 0; i < samples; i++) await turn(true);
const counted = facts?.();
await close?.();

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const value = Object.fromEntries(Object.entries(found).map(([who, list]) => [who, median(list)]));
process.stdout.write(`${JSON.stringify({ value, facts: counted })}\n`);
process.exit(); // a run that was left half done holds its process
