export {
  type CommandDef,
  type CommandEffect,
  type CommandStream,
  defineCommand,
  type HttpBinding,
} from "./define.ts";
export { flowCommands } from "./flows.ts";
export { hubCommands } from "./hubs.ts";
export { metaCommands } from "./meta.ts";
export { modelCommands } from "./models.ts";
export type {
  CommandArgs,
  CommandName,
  CommandResult,
  CommandTypes,
  ParsedArgs,
} from "./names.ts";
export { nodeCommands } from "./nodes.ts";
export {
  type ErrorCode,
  isErrorCode,
  PROBLEMS,
  type ProblemDocument,
  problemDocument,
} from "./problem.ts";
export { COMMANDS, commandOf } from "./registry.ts";
export { runCommands } from "./runs.ts";
export { scheduleCommands } from "./schedules.ts";
export { serviceCommands } from "./services.ts";
export { settingsCommands } from "./settings.ts";
export type { CommandTable } from "./table.ts";
export { templateCommands } from "./templates.ts";
export { webhookCommands } from "./webhooks.ts";
