// Collecting garbage when a bench wants it, without a flag of its process, and the time of the processor that work takes.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Collects all garbage. */
export const collect = runInNewContext("gc");

/** Milliseconds of the processor, all threads together; what lies around before is no part of it. */
export async function spent(work) {
  collect();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
