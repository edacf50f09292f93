export type { CompileOptions } from "./compile/compile-flow.ts";
export { type CompileResult, compileFlow } from "./compile/compile-flow.ts";
export type { Need, Plan } from "./compile/plan.ts";
export { type FlowRef, parseFlowRef } from "./compile/subflows.ts";
export type { ServiceLink, ServiceOf } from "./connections/link.ts";
export type { NodePack, TypeSource } from "./definitions.ts";
export { createEngine, type Engine, type RerunOptions } from "./engine.ts";
export { EngineError, type EngineErrorCode } from "./errors.ts";
export type { EgressPolicy, EgressRule, FilePolicy, Host, ShellPolicy } from "./host.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export { createMemoryJournal } from "./memory-journal.ts";
export type {
  BodyEnd,
  CoreContext,
  DeferredField,
  Failure,
  Fields,
  Grants,
  NodeType,
} from "./node-type.ts";
export type {
  Answer,
  CachePort,
  CloseOptions,
  ConfirmHandler,
  ConfirmReply,
  EngineOptions,
  LeaveOptions,
  OpenConfirmation,
  RequestTrace,
  ResumeOptions,
  RunCancelOptions,
  RunOptions,
  ServicePort,
  SubflowPort,
  ThrowPlace,
  TracePort,
} from "./options.ts";
export { createPortableHost } from "./portable-host.ts";
export { createRegistry, type Registry } from "./registry.ts";
export type { BatchOptions, EventCursor } from "./run/event-log.ts";
export {
  type NodeInputs,
  type RecordedRun,
  readNodeInputs,
  readRunInputs,
} from "./run/recover/node-inputs.ts";
export type { CompileRun, Recovered, RunsOfStore } from "./run/recover/recover-runs.ts";
export type { Run } from "./run/run.ts";
export { type FlowRun, type RunFlowOptions, runFlow } from "./run-flow.ts";
export { type Setting, type Shared, SharedKey, type SharedParts } from "./shared.ts";
