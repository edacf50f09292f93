export type { ChaosReport } from "./chaos-count.ts";
export type { ChaosFlow } from "./chaos-flow.ts";
export { type ChaosOptions, executorChaos } from "./executor-chaos.ts";
export {
  type ConformanceCase,
  type ExecutorUnderTest,
  executorConformance,
} from "./executor-conformance.ts";
export type { ChaosChild } from "./killed-server.ts";
