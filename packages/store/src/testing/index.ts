export {
  type ConformanceCase,
  type JournalUnderTest,
  journalConformance,
} from "./journal-conformance.ts";
