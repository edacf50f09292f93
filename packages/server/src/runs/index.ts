/** Functions that commands and streams of runs share. */
export { startRun, waitForRun } from "./commands.ts";
export {
  type AcceptsEvent,
  acceptsEvents,
  callExecutor,
  checkPosition,
  knownSummary,
  liveRuns,
  readEvents,
  snapshotOf,
} from "./known-run.ts";
export { isEnded, wholeOutputs } from "./run-end.ts";
