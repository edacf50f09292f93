/**
 * The one way to a command's handler: of its HTTP route, of `POST /api/invoke`, and of calls in this process.
 *   I1  The order of checks: wired, role, draining, store, arguments.
 *   I2  A command without an answer gives null.
 */
import type { CommandDef, CommandName, CommandResult, ParsedArgs } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import { invalidArg, ProblemError } from "../errors.ts";
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
import { checkArgs } from "./args.ts";

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
    options: { readonly status?: number | undefined; readonly headers?: HeaderRecord } = {},
  ) {
    this.value = value;
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

/** Content type of every answer that is JSON and no problem. */
export const JSON_TYPE: HeaderRecord = { "Content-Type": "application/json" };

const RANK: { readonly [R in Role]: number } = { read: 0, run: 1, admin: 2 };
const NEEDED: { readonly [E in CommandDef["effect"]]: Role } = {
  read: "read",
  run: "run",
  write: "admin",
  admin: "admin",
};
/** Seconds after which a client of a stopping server may look for the next one. */
const RETRY_AFTER_DRAIN_S = 5;
/** Whether results are checked; a server in production trusts its handlers. Read once: the environment is slow to ask. */
const CHECKS_RESULTS: boolean = /^(?:test|development)$/.test(process.env["NODE_ENV"] ?? "");

/**
 * Checks a call, then runs the handler of its command, or `stream` where the surface has one for it. `readArgs` is called after
 * the checks that need no arguments. Throws `ProblemError`; store errors become one, and anything else that is thrown is a fault.
 * In tests and development the result is checked against the command's schema, so a handler cannot drift from it. A handler that answers
 * at once is answered for at once: what it throws is thrown.
 */
export function dispatch<S = never>(
  command: CommandDef,
  readArgs: () => unknown,
  call: CommandCall,
  stream?: (args: never) => Promise<S>,
): Answer | S | Promise<Answer | S> {
  const { app, caller, host } = call;
  if (!app.isWired(command.name)) throw notWired(command.name);
  checkRole(command, caller);
  if (command.effect !== "read") refuseWhileDraining(app);
  checkStore(command, host);
  return after<unknown, Answer | S>(readArgs(), (read) => {
    const args = checkArgs(command, read) as never;
    if (stream !== undefined) return stream(args);
    const handler = host.commands.get(command.name);
    if (handler === undefined) {
      const headers = { Link: `<${command.http?.path ?? ""}>; rel="alternate"` };
      throw new ProblemError("stream_only", { headers });
    }
    return answerOf(command, () => handler(args, call));
  });
}

/** Goes on with a value: at once where it is there, so that what waits for nothing makes no promise. */
export function after<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  const { then } = Object(value) as { readonly then?: unknown };
  return typeof then === "function";
}

function answerOf(command: CommandDef, handle: () => unknown): Answer | Promise<Answer> {
  const done = (result: unknown): Answer => {
    const answer = result instanceof Answer ? result : new Answer(result ?? null);
    if (CHECKS_RESULTS) command.result.parse(answer.value);
    return answer;
  };
  let result: unknown;
  try {
    result = handle();
  } catch (error) {
    throw fromStore(error);
  }
  if (!isPromise(result)) return done(result);
  return Promise.resolve(result).then(done, (error: unknown) => {
    throw fromStore(error);
  });
}

/** Dispatches a command by name: `body` is that of `POST /api/invoke`. Throws `invalid_args` for a member that does not fit. */
export function invoke(body: unknown, call: CommandCall): Answer | Promise<Answer> {
  const { name, args } = readInvocation(body);
  const command = COMMANDS.get(name);
  if (command === undefined || !call.app.isWired(name)) throw notWired();
  return dispatch<never>(command, () => args, call);
}

/** Throws `draining` when the server stops. */
export function refuseWhileDraining(app: AppServices): void {
  if (!app.draining()) return;
  throw new ProblemError("draining", { headers: { "Retry-After": `${RETRY_AFTER_DRAIN_S}` } });
}

/** The refusal of a command that this server cannot do. */
export function notWired(name?: string): ProblemError {
  const detail = name && `${name} is not available on this server`;
  return new ProblemError("command_not_wired", { detail });
}

function checkRole(command: CommandDef, caller: Caller): void {
  const needed = NEEDED[command.effect];
  if (RANK[caller.role] < RANK[needed]) {
    throw new ProblemError("forbidden", { detail: `${command.name} needs the role ${needed}` });
  }
}

/** On a full disk there is room for what ends runs, and starts of runs are refused by the executor. */
function checkStore(command: CommandDef, { store }: ServerHost): void {
  const { condition } = store;
  if (condition === "ok" || command.effect === "read") return;
  if (condition === "store_full" && command.effect === "run") return;
  checkCondition(condition);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const COMMAND_NAME = /^[^\x00-\x1f\x7f-\x9f]{1,128}$/;

function readInvocation(body: unknown): { readonly name: string; readonly args: unknown } {
  if (!isObject(body)) {
    throw invalidArg("", "the body must be an object with command and args", "invalid_type");
  }
  const { command, args, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalidArg(pointerSegment(unknown), "is not known", "unrecognized_key");
  if (typeof command !== "string" || !COMMAND_NAME.test(command)) {
    throw invalidArg("/command", "must be a name of 1 to 128 characters", "invalid_format");
  }
  if (!isObject(args)) throw invalidArg("/args", "must be an object", "invalid_type");
  return { name: command, args };
}
