// One round of one case in one process of its own: the contenders in turn, in random order, and the median of each as JSON.
// Usage: node cell.js <URL of a cases.js> <case>
const WARM_MS = 400; // long enough for the optimising compiler to have seen the code

const [file, name] = process.argv.slice(2);
const { cases } = await import(file);
const { prepare, samples, warmMs = WARM_MS } = cases[name];
const { contenders, facts, close } = await prepare();
const found = Object.fromEntries(Object.keys(contenders).map((who) => [who, []]));

async function turn(keep) {
  const order = Object.keys(contenders).sort(() => Math.random() - 0.5);
  for (const who of order) {
    const value = await contenders[who]();
    if (keep) found[who].push(value);
  }
}

// What runs once is measured cold.
if (samples > 1) {
  const warm = performance.now() + warmMs;
  do await turn(false);
  while (performance.now() < warm);
}
for (let i = 0; i < samples; i++) await turn(true);
const counted = facts?.();
await close?.();

const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const values = Object.fromEntries(Object.entries(found).map(([who, list]) => [who, median(list)]));
process.stdout.write(`${JSON.stringify({ values, facts: counted })}\n`);
process.exit(); // a run that was left half done holds its process
