// One cell in one process: times one implementation on one workload and prints its median in milliseconds as JSON.
// Times are those of the processor, all threads together: garbage counts, and busy neighbours show less.
// Usage: node cell.js <file of the implementation> <workload>
import { sized } from "../size.js";
import { createState, workload as load, verify } from "./workloads.js";

const WARM_MS = sized(400, 0); // long enough for the optimising compiler to have seen the code
const TIME_MS = sized(700, 0);
const MIN_TIMES = sized(5, 1);
const SLOW_MS = 8_000; // a peer that takes this long has had its measure taken, however often it ran

const [file, name] = process.argv.slice(2);
const workload = load(name);
const begun = performance.now();

function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function time(once) {
  const states = Array.from({ length: workload.runs }, () => createState(workload.deps));
  const before = processorMs();
  await (workload.runs === 1 ? once(states[0]) : Promise.all(states.map((state) => once(state))));
  const ms = processorMs() - before;
  for (const state of states) verify(state, workload);
  return ms;
}

async function repeat(once, forMs, atLeast) {
  const times = [];
  const end = processorMs() + forMs; // on a busy machine little of the clock is ours, and the compiler would come too late
  const isSlow = () => performance.now() - begun > SLOW_MS;
  while (processorMs() < end || times.length < atLeast) {
    times.push(await time(once));
    if (isSlow()) break;
  }
  return times.sort((a, b) => a - b);
}

try {
  const { prepare } = await import(file);
  const once = await prepare(workload);
  await repeat(once, WARM_MS, 1);
  const times = await repeat(once, TIME_MS, MIN_TIMES);
  const ms = times[Math.floor(times.length / 2)];
  const rssMiB = Math.round(process.resourceUsage().maxRSS / 1_024);
  process.stdout.write(`${JSON.stringify({ ms, times: times.length, rssMiB })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failed: error.message.slice(0, 200) })}\n`);
}
process.exit(); // some peers leave timers behind
