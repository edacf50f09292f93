export { type ExecutorUnderTest, executorConformance } from "./executor-conformance.ts";
export {
  type ConformanceCase,
  type JournalUnderTest,
  journalConformance,
} from "./journal-conformance.ts";
