/** What commands and streams of runs have in common. */
export { isEnded, knownRun, knownSummary } from "./known-run.ts";
export { acceptsKinds, checkPosition } from "./positions.ts";
export { callExecutor, flowInvalid, toProblems } from "./problems.ts";
export { readDsl, sizeProblem, startRun } from "./start-run.ts";
