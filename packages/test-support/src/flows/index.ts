/** Flows of tests: run from text on a simulated clock, or one node alone over a real host. */
export { randomFlow } from "./random-flow.ts";
export {
  compiled,
  differences,
  type Ended,
  endsOf,
  faultsOf,
  forSeedNumbers,
  forSeeds,
  ndjson,
  type Ran,
  runPlan,
  settled,
  TIMEOUT_MS,
} from "./random-flows.ts";
export { type ReferenceNode, type ReferenceResult, referenceRun } from "./reference-run.ts";
export { client, type NodeEnd, runNode } from "./run-node.ts";
export {
  finish,
  graphOf,
  kinds,
  of,
  one,
  outputOf,
  planOf,
  portOf,
  type Setup,
  type Started,
  start,
  states,
} from "./run-text.ts";
export { type ScriptedFields, scriptedNode } from "./scripted-node.ts";
export { STANDARD_TYPES } from "./standard-types.ts";
export { bytes, type TempRoot, tempRoot, text } from "./temp-root.ts";
