/** Flags that many commands have, and the short forms in which commands are written. */
import type { Answer, ArgSpec, CliCommand, CommandIo, FlagSpec, Run } from "./spec.ts";

/** Flags that every command takes, in the order of help. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  { long: "json", summary: "one JSON value a line on stdout, the last one a summary" },
  { long: "quiet", short: "q", summary: "only errors and the last line" },
  {
    long: "verbose",
    short: "v",
    summary: "debug logs, output of extensions, and stacks of errors",
  },
  { long: "color", value: "<when>", choices: ["auto", "always", "never"], summary: "colour" },
  { long: "no-prompt", summary: "never ask; a needed answer ends the command" },
  {
    long: "config",
    value: "<file>",
    summary: "read this file instead of the nearest millrace.json",
  },
  { long: "home", value: "<dir>", summary: "folder of data and user configuration" },
];

/** Flags of commands that may ask a server instead of this installation. */
const REMOTE_FLAGS: readonly FlagSpec[] = [
  { long: "server", value: "<url>", summary: "ask this server (MILLRACE_SERVER_URL)" },
  {
    long: "token-file",
    value: "<file>",
    summary: "token for the server; else MILLRACE_TOKEN, else a stored one",
  },
];

/** How many of the words are flags of every command that stand before one; an unknown one ends them. */
export function flagsBefore(words: readonly string[]): number {
  let at = 0;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) {
    const flag = GLOBAL_FLAGS.find(
      ({ long, short }) =>
        word === `--${long}` || word?.startsWith(`--${long}=`) || word === `-${short}`,
    );
    if (flag === undefined) break;
    at += flag.value !== undefined && word === `--${flag.long}` ? 2 : 1;
  }
  return Math.min(at, words.length);
}

/** A command in short. `examples`: the line without `millrace`, and what it does. */
export interface CommandRow {
  readonly args?: readonly ArgSpec[];
  readonly flags?: readonly FlagSpec[];
  /** Default `query`. */
  readonly output?: CliCommand["output"];
  readonly examples: readonly (readonly [line: string, says: string])[];
  readonly run: Run;
}

/** A command that works on this machine alone. `path`: its words, such as `config get`. */
export function command(path: string, summary: string, row: CommandRow): CliCommand {
  const { args = [], flags = [], output = "query", examples, run } = row;
  return {
    path: path.split(" ") as [string, ...string[]],
    summary,
    args,
    flags,
    output,
    examples: examples.map(([line, says]) => ({ line: `millrace ${line}`, says })),
    async run(input, io, table) {
      const end = await run(input, io, table);
      if (typeof end === "number") return end;
      await printAnswer(end, io);
      return 0;
    },
  };
}

/** The answer of a list without pages: `items` for a program, a line of each for a person, or a remark when it is empty. */
export function listOf(items: readonly unknown[], data: readonly string[], none: string): Answer {
  return { value: { items }, data, said: data.length === 0 ? [none] : [], mayBeQuiet: false };
}

/** Prints an answer: under `--json` as one line, else as text. */
export async function printAnswer(
  { value, data = [], said = [], mayBeQuiet = true }: Answer,
  io: CommandIo,
): Promise<void> {
  if (io.json !== undefined) {
    await io.json.result(value as object | null);
    return;
  }
  if (data.length > 0) await io.out.write(`${data.join("\n")}\n`);
  const isShown = said.length > 0 && !(mayBeQuiet && io.verbosity === "quiet");
  if (isShown) await io.err.write(`${said.join("\n")}\n`);
}

/** Writes a line for a person to stderr, unless the command answers as JSON or is quiet. */
export async function say(io: CommandIo, line: string): Promise<void> {
  if (io.json === undefined && io.verbosity !== "quiet") await io.err.write(`${line}\n`);
}

/** A command that asks this installation, or a server that is named. */
export function serverCommand(path: string, summary: string, row: CommandRow): CliCommand {
  return command(path, summary, { ...row, flags: [...(row.flags ?? []), ...REMOTE_FLAGS] });
}

/** The environment of a command; the same key of the configuration is its default. */
export const ENV_FLAG: FlagSpec = {
  long: "env",
  value: "<name>",
  summary: "environment, such as prod (MILLRACE_ENV)",
};

/** Of one variable or secret. It has no default: a command for all environments need not know the one of the shell. */
export const OWN_ENV_FLAG: FlagSpec = {
  ...ENV_FLAG,
  summary: "of this environment alone (default: of all)",
};

/** Where a variable or secret counts, at the end of a sentence. */
export function inEnvironment(environment: string | undefined): string {
  return environment === undefined ? "in all environments" : `in the environment ${environment}`;
}

/** An argument that must be there. */
export function arg(name: string, summary: string, complete?: ArgSpec["complete"]): ArgSpec {
  return { name, summary, required: true, ...(complete && { complete }) };
}

/** A flag with a value. */
export function option(
  long: string,
  value: string,
  summary: string,
  more: Partial<FlagSpec> = {},
): FlagSpec {
  return { long, value, summary, ...more };
}

/** Flags of every command that prints a page of a list. */
export const PAGE_FLAGS: readonly FlagSpec[] = [
  option("limit", "<n>", "most rows, 1 to 200 (default 50)"),
  option("cursor", "<cursor>", "go on where the page before ended"),
];

/** The letter of a flag of every command, unless the command gives that letter another meaning: `-q` may be a query. */
export function shortOf({ short }: FlagSpec, { flags }: CliCommand): string | undefined {
  return flags.some((own) => own.short === short) ? undefined : short;
}
