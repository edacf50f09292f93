/**
 * Entries of the table of handlers, their answers, and the checks that every call of a command passes.
 *   I1  The order of checks: shape of the body, wired, role, draining, arguments.
 *   I2  Success is 200 with the result verbatim; a command without an answer gives null.
 */

import type { CommandDef, CommandName, CommandResult, ParsedArgs } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { HeaderRecord } from "../http/index.ts";
import { checkCondition, fromStore } from "../http/problem.ts";
import type {
  AppServices,
  Caller,
  CommandCall,
  CommandHandler,
  Role,
  ServerHost,
} from "../ports.ts";
import { checkRunInput, escapeSegment, parseArgs } from "./check-args.ts";

/** Makes one entry of `CommandHandlers`, with the types of its command. */
export function wire<N extends CommandName>(
  name: N,
  handler: (
    args: ParsedArgs<N>,
    call: CommandCall,
  ) =>
    | CommandResult<N>
    | Answer<CommandResult<N>>
    | Promise<CommandResult<N> | Answer<CommandResult<N>>>,
): readonly [N, CommandHandler] {
  return [name, handler as CommandHandler];
}

/** A result with what HTTP says beside it. */
export class Answer<T = unknown> {
  readonly value: T;
  /** Replaces the status of the command's route. */
  readonly status: number | undefined;
  readonly headers: HeaderRecord;

  constructor(
    value: T,
    options: { readonly status?: number; readonly headers?: HeaderRecord } = {},
  ) {
    this.value = value;
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

const RANK: { readonly [R in Role]: number } = { read: 0, run: 1, admin: 2 };
const NEEDED: { readonly [E in CommandDef["effect"]]: Role } = {
  read: "read",
  run: "run",
  write: "admin",
  admin: "admin",
};
/** Seconds after which a client of a stopping server may look for the next one. */
const RETRY_AFTER_DRAIN_S = 5;

/** Throws `forbidden` when the caller's role does not cover the command. */
export function checkRole(command: CommandDef, caller: Caller): void {
  const needed = NEEDED[command.effect];
  if (RANK[caller.role] < RANK[needed]) {
    throw new ProblemError("forbidden", { detail: `${command.name} needs the role ${needed}` });
  }
}

/** Throws `draining` when the server stops and the command does more than read. */
export function checkDraining(command: CommandDef, app: AppServices): void {
  if (command.effect !== "read") refuseWhileDraining(app);
}

/**
 * Throws `store_full` when the disk is full and the command writes, and the code of a store that takes no writes at all when it
 * does more than read. On a full disk there is room for what ends runs, and their starts are refused by the executor.
 */
export function checkStore(command: CommandDef, { store }: ServerHost): void {
  const { condition } = store;
  if (condition === "ok" || command.effect === "read") return;
  if (condition === "store_full" && command.effect === "run") return;
  checkCondition(condition);
}

/** Throws `draining` when the server stops. */
export function refuseWhileDraining(app: AppServices): void {
  if (!app.draining()) return;
  throw new ProblemError("draining", { headers: { "Retry-After": `${RETRY_AFTER_DRAIN_S}` } });
}

/** Checks arguments as every surface does. */
export function checkArgs(command: CommandDef, args: unknown): unknown {
  checkRunInput(command, args);
  return parseArgs(command, args);
}

/** The refusal of a command that this server cannot do. */
export function notWired(name?: string): ProblemError {
  return new ProblemError(
    "command_not_wired",
    name === undefined ? {} : { detail: `${name} is not available on this server` },
  );
}

/** The body of `POST /api/invoke`. */
export interface Invocation {
  readonly command: string;
  readonly args: unknown;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const COMMAND_NAME = /^[^\x00-\x1f\x7f-\x9f]{1,128}$/;

/** Reads the body. Throws `invalid_args` with a pointer for each member that does not fit. */
export function readInvocation(body: unknown): Invocation {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw refused("", "invalid_type", "the body must be an object with command and args");
  }
  const { command, args, ...others } = body as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw refused(`/${escapeSegment(unknown)}`, "unrecognized_key", "is not known");
  if (typeof command !== "string" || !COMMAND_NAME.test(command)) {
    throw refused("/command", "invalid_format", "must be a name of 1 to 128 characters");
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw refused("/args", "invalid_type", "must be an object");
  }
  return { command, args };
}

function refused(pointer: string, code: string, message: string): ProblemError {
  return new ProblemError("invalid_args", { errors: [{ pointer, code, message }] });
}

/** Invokes a command by name. Throws `ProblemError`. */
export async function invokeCommand(
  commands: ReadonlyMap<string, CommandDef>,
  invocation: Invocation,
  call: CommandCall,
): Promise<Answer> {
  const command = commands.get(invocation.command);
  if (command === undefined || !call.app.isWired(command.name)) throw notWired();
  checkRole(command, call.caller);
  checkDraining(command, call.app);
  checkStore(command, call.host);
  const args = checkArgs(command, invocation.args);
  if (!call.host.commands.has(command.name)) {
    throw new ProblemError("stream_only", {
      headers: { Link: `<${command.http?.path ?? ""}>; rel="alternate"` },
    });
  }
  return runCommand(command, args, call);
}

/** Whether results are checked; a server in production trusts its handlers. Read once: the environment is slow to ask. */
const CHECKS_RESULTS: boolean = /^(?:test|development)$/.test(process.env["NODE_ENV"] ?? "");

/**
 * Calls the handler of a command with parsed arguments. Throws `ProblemError`; what the store refuses becomes one, and anything
 * else that is thrown is a fault.
 * In tests and development the result is checked against the command's schema, so a handler cannot drift from it.
 */
export async function runCommand(
  command: CommandDef,
  args: unknown,
  call: CommandCall,
): Promise<Answer> {
  const handler = call.host.commands.get(command.name);
  if (handler === undefined) throw notWired(command.name);
  let given: unknown;
  try {
    given = await handler(args as never, call);
  } catch (error) {
    throw fromStore(error);
  }
  const answer = given instanceof Answer ? given : new Answer(given ?? null);
  if (CHECKS_RESULTS) command.result.parse(answer.value);
  return answer;
}
