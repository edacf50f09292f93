// One cell in one process: times one implementation on one workload and prints its median in milliseconds as JSON.
// Usage: node cell.js <implementation> <workload>
import { createState, workload as load, verify } from "./workloads.js";

const WARM_MS = 400; // long enough for the optimising compiler to have seen the code
const TIME_MS = 700;
const MIN_TIMES = 5;
const MAX_MS = 60_000; // a peer that takes longer fails the workload

const [implementation, name] = process.argv.slice(2);
const workload = load(name);
const { prepare } = await import(`./implementations/${implementation}.js`);
const once = await prepare(workload);

async function time() {
  const states = Array.from({ length: workload.runs }, () => createState(workload.deps));
  const started = performance.now();
  await (workload.runs === 1 ? once(states[0]) : Promise.all(states.map((state) => once(state))));
  const ms = performance.now() - started;
  for (const state of states) verify(state, workload);
  return ms;
}

async function repeat(forMs, atLeast) {
  const times = [];
  const end = performance.now() + forMs;
  const limit = performance.now() + MAX_MS;
  while ((performance.now() < end || times.length < atLeast) && performance.now() < limit)
    times.push(await time());
  return times.sort((a, b) => a - b);
}

try {
  await repeat(WARM_MS, 1);
  const times = await repeat(TIME_MS, MIN_TIMES);
  const ms = times[Math.floor(times.length / 2)];
  const rssMiB = Math.round(process.resourceUsage().maxRSS / 1_024);
  process.stdout.write(`${JSON.stringify({ ms, times: times.length, rssMiB })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failed: error.message.slice(0, 200) })}\n`);
}
