/** Functions that commands and streams of runs share. */
export { startRun } from "./commands.ts";
export {
  type AcceptsEvent,
  acceptsEvents,
  callExecutor,
  checkPosition,
  knownSummary,
  liveRuns,
  snapshotOf,
} from "./known-run.ts";
export { isEnded } from "./run-state.ts";
export { waitForRun } from "./wait-for-run.ts";
export { wholeOutputs } from "./whole-outputs.ts";
