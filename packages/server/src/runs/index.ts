/** What commands and streams of runs have in common. */
export { acceptsKinds, checkPosition, isEnded, knownSummary, liveRuns } from "./known-run.ts";
export { callExecutor, flowInvalid, toProblems } from "./problems.ts";
export { readDsl, sizeProblem, startRun } from "./start-run.ts";
