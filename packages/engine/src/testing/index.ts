export { checkLog } from "@millrace/contracts";
export { createRandom, type Random } from "./random.ts";
export { randomFlow } from "./random-flow.ts";
export { type ReferenceNode, type ReferenceResult, referenceRun } from "./reference-run.ts";
export { type ScriptedFields, scriptedNode } from "./scripted-node.ts";
export { createSimClock, type SimClock, type SimClockOptions } from "./sim-clock.ts";
