export {
  type CommandDef,
  type CommandEffect,
  type CommandStream,
  defineCommand,
  type HttpBinding,
} from "./commands/define.ts";
export type { InstalledItem } from "./commands/hubs.ts";
export {
  type ErrorCode,
  isErrorCode,
  PROBLEMS,
  type ProblemDocument,
  problemDocument,
  problemMessage,
} from "./commands/problem.ts";
export type { CommandArgs, CommandName, CommandResult, ParsedArgs } from "./commands/registry.ts";
export type { PageArgs } from "./commands/table.ts";
export type { Diagnostic, Fix, Position, Range, Severity } from "./diagnostics.ts";
export {
  Again,
  type Dispatcher,
  DispatcherError,
  type DispatcherErrorCode,
  type Drive,
  type DriveOptions,
  type DriveResult,
  type RingOptions,
} from "./dispatch.ts";
export { assertLog, checkLog } from "./events/check-log.ts";
export type { CheckOptions, ImpliedEdge, Invariant, Violation } from "./events/check-state.ts";
export { mergeDeltas } from "./events/deltas.ts";
export { EventParseError, type EventParseErrorCode } from "./events/errors.ts";
export { ExitCode, exitCodeFor } from "./events/exit-codes.ts";
export { foldEvents } from "./events/fold.ts";
export { foldTrace } from "./events/fold-trace.ts";
export {
  type JsonLimits,
  type JsonWarning,
  type JsonWarningCode,
  NotJsonError,
  type NotJsonErrorCode,
  toJsonValue,
} from "./events/json-value.ts";
export { EVENT_KINDS, isKnownEvent, PAYLOAD_KEYS, TERMINAL_KIND } from "./events/kinds.ts";
export { cutText, EVENT_LIMITS } from "./events/limits.ts";
export {
  CONFIRMATION_MACHINE,
  NODE_MACHINE,
  NODE_REMARKS,
  RUN_MACHINE,
} from "./events/machines.ts";
export { makeSnapshot, makeSummary } from "./events/make.ts";
export { parseEvent, parseEventStrict } from "./events/parse.ts";
export {
  enclosingAttempt,
  enclosingNode,
  formatPath,
  type PathSegment,
  parsePath,
} from "./events/path.ts";
export { lineForms, secretForms } from "./events/secrets.ts";
export { ndjson, serialiseEvent, sse } from "./events/serialise.ts";
export { escapeLine } from "./events/serialise-parts.ts";
export { addCall, NO_USAGE } from "./events/sums.ts";
export {
  createTrace,
  type LiveSpan,
  type SpanKind,
  type SpanState,
  type SpanView,
  type Trace,
  type TraceJson,
  traceFromJson,
  traceToJson,
} from "./events/trace.ts";
export type {
  AnyEvent,
  CancelReason,
  ConfirmRequested,
  ConfirmResolved,
  Counts,
  DeltaChannel,
  Digest,
  ErrorInfo,
  ExecutionEvent,
  Kind,
  LlmDelta,
  LlmFailed,
  LlmFinished,
  LlmRejected,
  LlmStarted,
  Log,
  LogChannel,
  LogLevel,
  NodeCancelled,
  NodeChecked,
  NodeFailed,
  NodeProgress,
  NodeResumed,
  NodeRetrying,
  NodeSkipped,
  NodeStarted,
  NodeSucceeded,
  NodeWaiting,
  Outcome,
  PauseReason,
  ResumeReason,
  Routed,
  RunCancelling,
  RunEnd,
  RunPaused,
  RunResumed,
  RunStarted,
  Snapshot,
  Summary,
  SummaryPayload,
  SummaryStatus,
  SummaryUsage,
  ToolFinished,
  ToolStarted,
  Trigger,
  UnknownEvent,
  Usage,
  ValueRef,
} from "./events/types.ts";
export type { LiveConfirmation, LiveNode, RunView } from "./events/view.ts";
export { viewFromJson, viewToJson } from "./events/view-json.ts";
export type {
  CallView,
  ConfirmationView,
  FailureView,
  LogView,
  NodeState,
  NodeView,
  RunState,
  RunViewJson,
} from "./events/view-parts.ts";
export { createView } from "./events/view-state.ts";
export { withholdContent } from "./events/withhold.ts";
export type {
  AiCall,
  AiCapabilities,
  AiContext,
  AiCredentials,
  AiCredentialsPort,
  AiEmbedding,
  AiMessage,
  AiModel,
  AiModelInfo,
  AiPart,
  AiProvider,
  AiProviderOptions,
  AiProviderTool,
  AiSourceTool,
  AiStream,
  AiTool,
  AiToolContext,
  AiToolSource,
  PricePerMillion,
} from "./extend/ai.ts";
export {
  type CatalogOptions,
  catalogEntriesOf,
  catalogEntryOf,
} from "./extend/catalog-entry.ts";
export {
  checkService,
  checkServiceIntegration,
  type ServiceFindingCode,
} from "./extend/check-service.ts";
export type {
  AbortSignalLike,
  ConfirmAnswer,
  Connection,
  ControlContext,
  FetchInit,
  FetchLike,
  FileEntry,
  FilePort,
  FileRange,
  HeadersLike,
  NodeContext,
  ResponseLike,
  Secret,
  SpawnEnd,
  SpawnOptions,
  SpawnPort,
} from "./extend/context.ts";
export {
  defineAction,
  defineActionAdapter,
  defineExtension,
  defineNodeType,
  defineProvider,
  defineService,
} from "./extend/define.ts";
export { NodeError, type NodeErrorOptions } from "./extend/error.ts";
export { exit, isNodeExit, type NodeExit } from "./extend/exit.ts";
export { ExtensionError, type ExtensionErrorCode } from "./extend/extension-error.ts";
export { promptText } from "./extend/prompt-text.ts";
export {
  isZodSchema,
  type JsonSchemaOf,
  jsonSchema,
  type Schema,
  type TypeOfSchema,
} from "./extend/schema.ts";
export {
  operationEffect,
  type ServiceArgument,
  type ServiceArguments,
  serviceArguments,
} from "./extend/service-arguments.ts";
export {
  type ActionAdapterDefinition,
  type ActionAdapterSpec,
  type ActionDefinition,
  type ActionSpec,
  type DefinitionKind,
  definitionKind,
  EXTENSION_API_VERSION,
  EXTENSION_MARK,
  type ExtensionDefinition,
  type ExtensionSpec,
  type FieldFinding,
  type HostContext,
  type NodeSpec,
  type NodeTypeDefinition,
  type NodeTypeSpec,
  type ProviderDefinition,
  type ProviderSpec,
  type ServiceDefinition,
  type Stamp,
} from "./extend/types.ts";
export { type Json, type JsonObject, type JsonSchema, MAX_JSON_DEPTH } from "./json.ts";
export type {
  CancelOptions,
  Channel,
  ChannelMap,
  CredentialOptions,
  CredentialsPort,
  EncodedEvent,
  EventSink,
  Executor,
  Journal,
  KeyHolder,
  KeyPlace,
  KeyPort,
  ModelLease,
  ModelManager,
  Problem,
  RecoveryReport,
  ResumeState,
  RunHeader,
  RunHeaderOptions,
  RunQuery,
  RunSignal,
  RunSpec,
  ServiceCredential,
  SignalResult,
  StartRows,
  StoredEvent,
} from "./ports.ts";
export { createRunId } from "./run-id.ts";
export type {
  CatalogEntry,
  Enforcement,
  ExtensionRuntime,
  Permissions,
  PortSpec,
  SchemaHints,
} from "./schemas/catalog.ts";
export type { Page, Tags } from "./schemas/common.ts";
export type {
  ConnectArgs,
  ConnectionStatus,
  ConnectProgress,
  ConnectStarted,
  ImportedService,
  OAuthClientArgs,
  ServiceInfo,
  ServiceSecret,
} from "./schemas/connection.ts";
export type {
  FieldValue,
  FlowBody,
  FlowConnection,
  FlowEdge,
  FlowGraph,
  FlowInput,
  FlowNode,
  FlowOutput,
  FlowPolicy,
  FlowSchedule,
  OnError,
  Policy,
  RetryPolicy,
} from "./schemas/graph.ts";
export type { Hub, HubIndex, HubItem, HubProvides } from "./schemas/hub.ts";
export type {
  Job,
  JobRef,
  Model,
  ModelEngine,
  ModelInstallArgs,
  ModelLoadOptions,
  ModelRuntime,
  ModelState,
  ModelsFrame,
} from "./schemas/model.ts";
export type {
  Confirmation,
  NodeInputs,
  Run,
  RunBlob,
  RunFilter,
  RunInputs,
  RunRef,
  RunRequest,
  RunRequestOptions,
  RunSource,
  RunSummary,
  RunTemplate,
} from "./schemas/run.ts";
export type {
  NewWebhook,
  ProposedSchedule,
  Schedule,
  ScheduleArgs,
  SchedulePage,
  Webhook,
  WebhookAnswer,
  WebhookArgs,
  WebhookScheme,
} from "./schemas/schedule.ts";
export type { CommandInfo, Meta, ProviderInfo, Settings } from "./schemas/server.ts";
export type {
  FlowArgs,
  FlowReport,
  PushReport,
  Template,
  TemplateSource,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
} from "./schemas/template.ts";
export { hideSecretInputs } from "./secret-inputs.ts";
export type {
  AuthScheme,
  Effect,
  Pagination,
  ServiceAuth,
  ServiceIntegration,
  ServiceOperation,
  ServiceSpec,
} from "./service.ts";
export { startedBy } from "./started-by.ts";
