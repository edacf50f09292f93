/**
 * A command line that is one command of the registry: words to arguments, the answer to text.
 *   A1  `--json` is one line, the answer as it came; a person gets tables and facts of the same answer.
 *   A2  Data goes to stdout, remarks to stderr.
 */

import type { CommandArgs, CommandName, CommandResult, Page } from "@millrace/contracts";
import { type CommandRow, PAGE_FLAGS, printAnswer, serverCommand } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagList,
  flagText,
  type Input,
  type Run,
} from "../argv/spec.ts";
import { parseDuration, splitPair } from "../argv/values.ts";
import { CliError, endedBy, usage } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { clean } from "../output/text.ts";
import { type Api, MAX_PAGE } from "./api.ts";
import { toCliError } from "./errors.ts";
import { openApi } from "./open.ts";

/** The command line, its streams and the API, for the callbacks of a command. */
export interface CommandContext {
  readonly input: Input;
  readonly io: CommandIo;
  readonly api: Api;
}

/** An answer as text: lines of data for stdout, remarks for stderr. */
export type Rendered = Pick<Answer, "data" | "said">;

/** Arguments of a call as a command line gives them: what was not given is undefined. */
type Given<N extends CommandName> = {
  readonly [K in keyof CommandArgs<N>]: CommandArgs<N>[K] | undefined;
};

/** One command of the registry, as a command line asks for it. */
export interface ApiCommand<N extends CommandName> {
  readonly command: N;
  /** Whether the embedded store is opened for writing. */
  readonly write?: true | undefined;
  request(context: CommandContext): Given<N> | Promise<Given<N>>;
  show(result: CommandResult<N>, context: CommandContext): Rendered | Promise<Rendered>;
  /** Runs after the answer is printed; resolves to the exit code. Default: 0. */
  readonly after?:
    | ((result: CommandResult<N>, context: CommandContext) => Promise<number>)
    | undefined;
}

/** A command line that is one command of the registry. */
export function apiCommand<N extends CommandName>(
  path: string,
  summary: string,
  { command, write, request, show, after, ...row }: ApiCommand<N> & Omit<CommandRow, "run">,
): CliCommand {
  const run = callApi({ command, write, request, show, after });
  return serverCommand(path, summary, { ...row, run });
}

/** Calls a command of the registry, and prints its answer. */
export function callApi<N extends CommandName>(spec: ApiCommand<N>): Run {
  return (input, io) =>
    withApi(input, io, spec.write, async (api) => {
      const context = { input, io, api };
      const args = omitUndefined(await spec.request(context)) as CommandArgs<N>;
      const value = await api.invoke(spec.command, args);
      const text = io.json === undefined ? await spec.show(value, context) : {};
      await printAnswer({ value, ...text }, io);
      return (await spec.after?.(value, context)) ?? 0;
    });
}

type Paged = {
  [N in CommandName]: CommandResult<N> extends Page<unknown> ? N : never;
}[CommandName];
type ItemOf<N extends Paged> = CommandResult<N>["items"][number];

/** How a page is shown. `none`: the remark where it is empty. */
interface ListTable<T> {
  readonly headings: readonly string[];
  readonly row: (item: T, context: CommandContext) => readonly string[];
  readonly none: string;
}

/** A command line that lists a page of the registry as a table; it takes `--limit` and `--cursor`. */
export function listCommand<N extends Paged>(
  path: string,
  summary: string,
  {
    command,
    request = () => ({}) as Given<N>,
    flags = [],
    headings,
    row,
    none,
    ...more
  }: ListTable<ItemOf<N>> & {
    readonly command: N;
    /** The arguments of the call beside those of the page. */
    readonly request?: (context: CommandContext) => Given<N>;
  } & Omit<CommandRow, "run">,
): CliCommand {
  return apiCommand<N>(path, summary, {
    ...more,
    flags: [...flags, ...PAGE_FLAGS],
    command,
    request: (context) => ({ ...pageOf(context.input), ...request(context) }),
    show: (page, context) => listed(page as Page<ItemOf<N>>, context, { headings, row, none }),
  });
}

/** Opens the API that the flags name, for as long as `work` takes. Errors name `what`, by default the first argument. */
export async function withApi<T>(
  input: Input,
  io: CommandIo,
  write: true | undefined,
  work: (api: Api) => Promise<T>,
  what: string | undefined = input.args[0],
): Promise<T> {
  const api = await openApi(input, io, { write: write === true });
  try {
    return await work(api);
  } catch (error) {
    if (io.signal.aborted && !(error instanceof CliError)) throw endedBy(io.signal);
    throw toCliError(error, { subject: what });
  } finally {
    await api.close();
  }
}

/** The text of a list: a table, or the remark that there is nothing; and how to go on where there is more. */
export async function listed<T>(
  { items, nextCursor }: Page<T>,
  context: CommandContext,
  { headings, row, none }: ListTable<T>,
): Promise<Rendered> {
  const { io } = context;
  if (items.length === 0) return { said: [none] };
  const columns = io.isTTY.stdout ? io.size("stdout").columns || undefined : undefined;
  const rows = items.map((item) => row(item, context));
  const more = nextCursor === null ? [] : [`there are more: --cursor ${clean(nextCursor)}`];
  return { data: await tableLines(headings, rows, { columns }), said: more };
}

/** The object without members that are undefined. */
export function omitUndefined<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** `--limit` and `--cursor`, which every list has. */
export function pageOf(input: Input): { readonly limit?: number; readonly cursor?: string } {
  const limit = wholeNumber(input, "limit");
  if (limit !== undefined && (limit < 1 || limit > MAX_PAGE)) {
    throw usage(`--limit takes 1 to ${MAX_PAGE}, found "${limit}"`, "--cursor goes on from a page");
  }
  return omitUndefined({ limit, cursor: flagText(input, "cursor") });
}

/** The whole number of at least 0 that a flag gives; undefined where it is not given. Throws a usage error for other text. */
export function wholeNumber(input: Input, flag: string): number | undefined {
  const text = flagText(input, flag);
  return text === undefined ? undefined : toWhole(text, `--${flag}`);
}

/** A whole number of at least 0. */
export function toWhole(text: string, what: string): number {
  if (!/^\d{1,15}$/.test(text)) throw usage(`${what} takes a whole number, found "${text}"`);
  return Number(text);
}

/** A flag that takes a length of time, in milliseconds. */
export function durationOf(input: Input, flag: string): number | undefined {
  const text = flagText(input, flag);
  return text === undefined ? undefined : parseDuration(text, `--${flag}`);
}

/** `name=value` pairs of a repeated flag; undefined when it was not given. */
export function pairsOf(input: Input, flag: string): Record<string, string> | undefined {
  const words = flagList(input, flag);
  if (words.length === 0) return undefined;
  return Object.fromEntries(words.map((word) => splitPair(word, `--${flag}`)));
}

/** The values of a repeated flag; undefined when it was not given. */
export function valuesOf(input: Input, flag: string): readonly string[] | undefined {
  const values = flagList(input, flag);
  return values.length === 0 ? undefined : values;
}
