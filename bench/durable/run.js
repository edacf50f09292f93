// Measures what durability costs and writes results/latest.{json,md}; every round has fresh files.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { runCases } from "../rounds.js";
import { cases } from "./cases.js";

/** Cases that first write 100,000 runs, or wait for a thousand, take minutes. */
const isSlow = (name) => name.includes("100,000") || name.includes("parked");

runCases({
  base: import.meta.url,
  cases,
  roundsOf: (name, quick) => (quick ? 1 : isSlow(name) ? 3 : 5),
});
