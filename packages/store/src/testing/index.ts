export {
  type ChaosChild,
  type ChaosOptions,
  type ChaosReport,
  type ChaosWork,
  executorChaos,
} from "./executor-chaos.ts";
export { type ExecutorUnderTest, executorConformance } from "./executor-conformance.ts";
export {
  type ConformanceCase,
  type JournalUnderTest,
  journalConformance,
} from "./journal-conformance.ts";
