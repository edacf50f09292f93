/** What commands and streams of runs have in common. */
export { acceptsKinds, checkPosition, isEnded, knownSummary, liveRuns } from "./known-run.ts";
export { callExecutor } from "./problems.ts";
export { startRun } from "./start-run.ts";
