/** What commands and streams of runs have in common. */
export { startRun } from "./commands.ts";
export {
  type AcceptsEvent,
  acceptsEvents,
  callExecutor,
  checkPosition,
  isEnded,
  knownSummary,
  liveRuns,
} from "./known-run.ts";
