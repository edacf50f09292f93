/** Entries of the table of handlers, their answers, and the checks that every call of a command passes. */
import type { CommandDef, CommandName, CommandResult, ParsedArgs } from "@millrace/contracts";
import { checkRunInput, parseArgs } from "../args/index.ts";
import { ProblemError } from "../errors.ts";
import type { Role } from "../gate/index.ts";
import type { Caller, HeaderRecord } from "../http/index.ts";
import type { AppServices, CommandCall, CommandHandler, ServerHost } from "../ports.ts";
import { checkCondition } from "../store-problem.ts";

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
