// One cell in one process: times contenders of one case and prints milliseconds an operation, as JSON, a line each. Time is that of
// the processor, all threads of the process together: what other processes do shows less, and collecting garbage counts.
// Usage: node cell.js <case> <contender>…
import { sized } from "../size.js";
import { expressionCases } from "./expression-cases.js";
import { textCases } from "./text-cases.js";

const WARM_MS = sized(400, 0); // long enough for the optimising compiler to have seen the code
const TIME_MS = sized(700, 0);
const MIN_TIMES = sized(3, 1);
const BATCH_MS = sized(20, 0); // the clock of the processor is coarser than that of the wall

const [name, ...whos] = process.argv.slice(2);
const { contenders, input, same } = { ...textCases, ...expressionCases }[name];

let kept; // what is computed must be used
let calls = 0;

/** Nothing but the calls, so that V8 compiles nothing else in the same piece. */
function repeat(once, times) {
  for (let i = 0; i < times; i++) kept = once(calls++);
}

async function measure(who) {
  const once = await contenders[who](input);
  for (let i = 0; i < (name in expressionCases ? 8 : 1); i++) {
    const value = await once(i);
    if (same && !same(value, input, i)) throw new Error(`${name}: ${who} gives another value`);
  }
  const waits = once(0) instanceof Promise;

  async function batch(size) {
    const started = process.cpuUsage();
    if (waits) for (let i = 0; i < size; i++) kept = await once(calls++);
    else repeat(once, size);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000;
  }

  let size = 1;
  const warm = performance.now() + WARM_MS;
  while (performance.now() < warm) if ((await batch(size)) < BATCH_MS) size *= 2;

  const times = [];
  const end = performance.now() + TIME_MS;
  while (performance.now() < end || times.length < MIN_TIMES)
    times.push((await batch(size)) / size);
  times.sort((a, b) => a - b);
  const ms = times[Math.floor(times.length / 2)];
  return { ms, times: times.length, kept: typeof kept };
}

for (const who of whos) process.stdout.write(`${JSON.stringify(await measure(who))}\n`);
