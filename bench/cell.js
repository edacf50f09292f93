// One round of cases in one process: the contenders of each in turn, in random order, and the median of each as JSON, a line a case.
// Usage: node cell.js <URL of a cases.js> <case>…
import { here } from "./machine.js";
import { shuffle } from "./random.js";
import { median } from "./report.js";
import { smoke } from "./size.js";

const WARM_MS = 400; // on the reference: long enough for the optimising compiler to have seen the code

const [file, ...names] = process.argv.slice(2);
const { cases } = await import(file);

async function round({ prepare, samples, warmTurns, warmMs = WARM_MS }) {
  const { contenders, facts, close } = await prepare();
  const found = Object.fromEntries(Object.keys(contenders).map((who) => [who, []]));

  async function turn(keep) {
    const order = shuffle(Object.keys(contenders));
    for (const who of order) {
      const value = await contenders[who]();
      if (keep) found[who].push(value);
    }
  }

  // What runs once is measured cold.
  if (samples > 1 && !smoke) {
    const warm = performance.now() + here(warmMs, 1); // as many turns on a slower machine
    let turns = 0;
    const isWarm = () => (warmTurns === undefined ? performance.now() >= warm : turns >= warmTurns);
    do {
      await turn(false);
      turns += 1;
    } while (!isWarm());
  }
  for (let i = 0; i < (smoke ? 1 : samples); i++) await turn(true);
  const counted = facts?.();
  await close?.();
  const values = Object.entries(found).map(([who, list]) => [who, median(list)]);
  return { values: Object.fromEntries(values), facts: counted };
}

for (const name of names) process.stdout.write(`${JSON.stringify(await round(cases[name]))}\n`);
process.exit(); // a run that was left half done holds its process
