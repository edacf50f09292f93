// All cases by name; what a case is says ../rounds.js. What a disk does needs no warm code: one turn before the first.
import { appendCases } from "./append-cases.js";
import { clusterCases } from "./cluster-cases.js";
import { historyCases } from "./history-cases.js";
import { runCases } from "./run-cases.js";

export const cases = Object.fromEntries(
  Object.entries({ ...appendCases, ...runCases, ...historyCases, ...clusterCases }).map(
    ([name, each]) => [name, { warmMs: 0, ...each }],
  ),
);

/** Cases that first write 100,000 runs, wait for a thousand, or start a cluster, take minutes. */
const isSlow = (name) =>
  name.includes("100,000") || name.includes("parked") || Object.hasOwn(clusterCases, name);

export const roundsOf = (name, quick) => (quick ? 1 : isSlow(name) ? 3 : 5);
