/** What handlers of commands are and get, and the checks that every call passes on whichever way it comes. */
import type { CommandDef, CommandName, CommandResult, ParsedArgs } from "@millrace/contracts";
import { checkRunInput, parseArgs } from "../args/index.ts";
import type { ServerLimits } from "../config/index.ts";
import { ProblemError } from "../errors.ts";
import type { Role } from "../gate/index.ts";
import type { ServerHost } from "../host.ts";
import type { Caller, HeaderRecord } from "../http/index.ts";
import { checkCondition } from "../store-problem.ts";
import type { Cursors } from "./cursors.ts";
import type { IdempotencyKeys } from "./idempotency.ts";

/** What belongs to one app and is shared by its handlers. */
export interface AppServices {
  readonly limits: ServerLimits;
  readonly keys: IdempotencyKeys;
  readonly cursors: Cursors;
  /** Every command there is, wired or not. */
  readonly commands: ReadonlyMap<string, CommandDef>;
  /** Who starts and steers runs where no token says it. */
  readonly actor: "api" | "cli";
  /** Whether `POST /hooks/:token` is switched on. */
  readonly webhooks: boolean;
  /** Whether the server takes no new work. */
  draining(): boolean;
  /** Whether a command has a handler or a stream. */
  isWired(name: string): boolean;
}

/** One call of a command. */
export interface CommandCall {
  readonly host: ServerHost;
  readonly app: AppServices;
  readonly caller: Caller;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Value of `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** Does what a command says; `args` are parsed. The value is the result, or an `Answer` around it. */
export type CommandHandler = (args: never, call: CommandCall) => unknown;

/** Handlers by command name; a command without one is not wired. */
export type CommandHandlers = ReadonlyMap<string, CommandHandler>;

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
