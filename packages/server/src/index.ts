export { createApp, type MillraceApp } from "./app.ts";
export {
  Answer,
  type AppServices,
  type CommandCall,
  type CommandHandler,
  type CommandHandlers,
  wire,
} from "./command.ts";
export {
  type CreateServerOptions,
  createServer,
  type MillraceServer,
} from "./create-server.ts";
export type { Cursors } from "./cursors.ts";
export type { DrainReport } from "./drain.ts";
export type { Environment, OptionSources } from "./environment.ts";
export {
  ConfigError,
  type ConfigErrorCode,
  ProblemError,
  type ProblemOptions,
} from "./errors.ts";
export type { Caller } from "./exchange.ts";
export { ExecutorError, type ExecutorErrorCode } from "./executor/errors.ts";
export { createLocalExecutor, type LocalExecutorOptions } from "./executor/local-executor.ts";
export { coreHandlers } from "./handlers/index.ts";
export type { ServerHost, StoredFlow, TemplatePort } from "./host.ts";
export type { ServerLimits } from "./limits.ts";
export type { Logger } from "./logger.ts";
export type { ReloadOptions, ServerOptions } from "./options.ts";
export { type RunningServer, type StartOptions, start } from "./start.ts";
export type { Role } from "./tokens.ts";
