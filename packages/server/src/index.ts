export { createApp, type MillraceApp } from "./app.ts";
export { type ChannelHostOptions, createChannelHost } from "./channels.ts";
export { Answer, type Cursors, wire } from "./commands/index.ts";
export type {
  Clock,
  Environment,
  ExtensionsOption,
  NodeTypeSource,
  OptionSources,
  ReloadOptions,
  ServerLimits,
  ServerOptions,
} from "./config/index.ts";
export {
  type CreateServerOptions,
  createServer,
  type MillraceServer,
} from "./create-server.ts";
export type { DrainReport } from "./drain.ts";
export {
  ConfigError,
  type ConfigErrorCode,
  ProblemError,
  type ProblemOptions,
} from "./errors.ts";
export {
  createLocalExecutor,
  ExecutorError,
  type ExecutorErrorCode,
  type LocalExecutor,
  type LocalExecutorOptions,
} from "./executor/index.ts";
export type { CallerIdentity, Role } from "./gate/index.ts";
export { coreHandlers } from "./handlers/index.ts";
export type { Caller } from "./http/index.ts";
export type { HubFolder } from "./hubs/index.ts";
export type {
  AppServices,
  CommandCall,
  CommandHandler,
  CommandHandlers,
  ServerHost,
  StoredFlow,
  TemplatePort,
} from "./ports.ts";
export type { Logger } from "./process/index.ts";
export { type RunningServer, type StartOptions, start } from "./start.ts";
