export {
  type CommandDef,
  type CommandEffect,
  type CommandStream,
  defineCommand,
  type HttpBinding,
} from "./define.ts";
export {
  type ErrorCode,
  isErrorCode,
  PROBLEMS,
  type ProblemDocument,
  problemDocument,
} from "./problem.ts";
export {
  COMMANDS,
  type CommandArgs,
  type CommandName,
  type CommandResult,
  commandOf,
  type ParsedArgs,
} from "./registry.ts";
