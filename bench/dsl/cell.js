// One cell in one process: times one contender of one case and prints milliseconds an operation, as JSON. Time is that of
// the processor, all threads of the process together: what other processes do shows less, and collecting garbage counts.
// Usage: node cell.js <case> <contender>
import { expressionCases } from "./expression-cases.js";
import { textCases } from "./text-cases.js";

const WARM_MS = 400; // long enough for the optimising compiler to have seen the code
const TIME_MS = 700;
const MIN_TIMES = 3;
const BATCH_MS = 20; // the clock of the processor is coarser than that of the wall

const [name, contender] = process.argv.slice(2);
const { contenders, input, same } = { ...textCases, ...expressionCases }[name];
const once = await contenders[contender](input);

for (let i = 0; i < (name in expressionCases ? 8 : 1); i++) {
  const value = await once(i);
  if (same && !same(value, input, i)) throw new Error(`${name}: ${contender} gives another value`);
}
const waits = once(0) instanceof Promise;

let kept; // what is computed must be used
let calls = 0;
async function batch(size) {
  const started = process.cpuUsage();
  if (waits) for (let i = 0; i < size; i++) kept = await once(calls++);
  else for (let i = 0; i < size; i++) kept = once(calls++);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

let size = 1;
const warm = performance.now() + WARM_MS;
while (performance.now() < warm) if ((await batch(size)) < BATCH_MS) size *= 2;

const times = [];
const end = performance.now() + TIME_MS;
while (performance.now() < end || times.length < MIN_TIMES) times.push((await batch(size)) / size);
times.sort((a, b) => a - b);
const ms = times[Math.floor(times.length / 2)];
process.stdout.write(`${JSON.stringify({ ms, times: times.length, kept: typeof kept })}\n`);
