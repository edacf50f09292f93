export { createApp, type DrainReport, type MillraceApp } from "./app/app.ts";
export type { ClusterOption, RestateOption } from "./cluster/option.ts";
export type { OptionSources } from "./config/environment.ts";
export type { ServerLimits } from "./config/limits.ts";
export type {
  Clock,
  ExtensionsOption,
  NodeTypeSource,
  ReloadOptions,
  ServerOptions,
} from "./config/options.ts";
export type { Environment } from "./config/read-options.ts";
export { Answer, wire } from "./dispatch/index.ts";
export { ConfigError, type ConfigErrorCode, ProblemError, type ProblemOptions } from "./errors.ts";
export {
  createLocalDispatcher,
  createLocalExecutor,
  createSharedExecutor,
  ExecutorError,
  type ExecutorErrorCode,
  type LocalDispatcherOptions,
  type LocalExecutor,
  type LocalExecutorOptions,
  type SharedExecutorOptions,
} from "./executor/index.ts";
export type { FlowsOption } from "./flow-files/option.ts";
export type { CallerIdentity } from "./gate/tokens.ts";
export { coreHandlers } from "./host/handlers.ts";
export type { HubFolder } from "./hubs/stored-hubs.ts";
export { type ChannelHostOptions, createChannelHost } from "./local/channel-host.ts";
export type {
  AppServices,
  Caller,
  CommandCall,
  CommandHandler,
  CommandHandlers,
  FlowFiles,
  Logger,
  Role,
  ServerHost,
  StoredFlow,
  TemplatePort,
} from "./ports.ts";
export {
  type CreateServerOptions,
  createServer,
  type MillraceServer,
} from "./server/create-server.ts";
export { type RunningServer, type StartOptions, start } from "./server/start.ts";
export type { StudioAsset, StudioAssets } from "./studio/assets.ts";
