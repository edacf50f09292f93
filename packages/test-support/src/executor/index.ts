/** The suite of executors, and the chaos that one of them must survive. */
export { executorChaos } from "./executor-chaos.ts";
export { executorConformance } from "./executor-conformance.ts";
