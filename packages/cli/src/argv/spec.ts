/** The shape of a command as data: help, parsing and documentation all read it. */

import type { CliIo, Output } from "../output/io.ts";
import type { Ndjson } from "../output/ndjson.ts";

/** Possible words of an argument or a flag, for completion in a shell; default files. */
export type Completer =
  | "run"
  | "template"
  | "schedule"
  | "webhook"
  | "hub"
  | "example"
  | "node-type"
  | "config-key"
  | "command"
  | "connection"
  | "diagnostic"
  | "shell";

/** A flag. Without `value` it is a switch. No flag is called `--no-<other flag>`, and none takes a secret. */
export interface FlagSpec {
  readonly long: string;
  readonly short?: string | undefined;
  /** Placeholder of the value in help, such as `<duration>`. */
  readonly value?: string;
  readonly multiple?: true;
  readonly choices?: readonly string[];
  readonly complete?: Completer;
  readonly summary: string;
}

/** A positional argument of a command, as help, parser and completion need it. */
export interface ArgSpec {
  readonly name: string;
  readonly summary: string;
  readonly required?: true;
  readonly variadic?: true;
  /** Whether an empty word says something. */
  readonly mayBeEmpty?: true;
  readonly complete?: Completer;
  /** Beside what `complete` says, the name of a file. */
  readonly orFile?: true;
}

/** Words of one command line, after parsing: a switch is true, a value text, a repeated value a list. */
export interface Input {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, boolean | string | readonly string[] | undefined>>;
}

/** Streams a command writes to. `json` is present exactly when `--json` was given. */
export interface CommandIo extends CliIo {
  readonly out: Output;
  readonly err: Output;
  readonly json: Ndjson | undefined;
  readonly colour: boolean;
  readonly verbosity: "quiet" | "normal" | "verbose";
  /** Whether a person can be asked. */
  readonly interactive: boolean;
}

/** Result of a query: one JSON value under `--json`, else text. */
export interface Answer {
  /** The line of `--json`. */
  readonly value: unknown;
  /** Lines for stdout. */
  readonly data?: readonly string[] | undefined;
  /** Remarks for stderr. */
  readonly said?: readonly string[];
  /** Whether `--quiet` leaves the remarks out. Default true. */
  readonly mayBeQuiet?: boolean;
}

/** The code of a command; resolves to the exit code, or to an answer that is printed before the command ends with 0. */
export type Run = (input: Input, io: CommandIo, table: CommandTable) => Promise<number | Answer>;

/** A command: its code, and its texts for help, parsing and documentation. */
export interface CliCommand {
  readonly path: readonly [string, ...string[]];
  /** At most 72 characters, no full stop. */
  readonly summary: string;
  readonly args: readonly ArgSpec[];
  readonly flags: readonly FlagSpec[];
  /** `stream` and `check` end in a `summary` line under `--json`, `query` is one line; `text` is for people. */
  readonly output: "stream" | "check" | "query" | "text";
  readonly examples: readonly { readonly line: string; readonly says: string }[];
  /** The code; resolves to the exit code. `table`: for the commands that complete words. */
  run(input: Input, io: CommandIo, table: CommandTable): Promise<number>;
}

/** The first word of commands: of one, or of a group. Its commands are loaded when they are needed. */
export interface Noun {
  readonly name: string;
  /** The summary of its one command, or the second words of its commands: `list, show`. */
  readonly says: string;
  /** Left out of help, documentation and completion: other programs call it, and its words are all arguments. */
  readonly hidden?: true;
  load(): Promise<{ readonly commands: readonly CliCommand[] }>;
}

/** Every command by its first word, in the order of help. */
export type CommandTable = readonly Noun[];

/** Every command but the hidden ones, with its code. */
export async function loadCommands(table: CommandTable): Promise<readonly CliCommand[]> {
  const shown = table.filter(({ hidden }) => !hidden);
  return (await Promise.all(shown.map(({ load }) => load()))).flatMap(({ commands }) => commands);
}

/** A command line as it was read: a command to run, help to print, or the usage error to report. */
export type Parsed =
  | { readonly kind: "command"; readonly command: CliCommand; readonly input: Input }
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "usage";
      readonly message: string;
      readonly hint: string | undefined;
      /** The command whose arguments are wrong, if there is one. */
      readonly command: CliCommand | undefined;
    };

/** The first argument; "" where there is none. */
export function firstArg({ args }: Input): string {
  return args[0] ?? "";
}

/** The text of a flag that takes one value. */
export function flagText(input: Input, name: string): string | undefined {
  const value = input.flags[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of a flag that may be repeated. */
export function flagList(input: Input, name: string): readonly string[] {
  const value = input.flags[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

/** True where the switch was given. False for a flag that takes a value. */
export function isOn(input: Input, name: string): boolean {
  return input.flags[name] === true;
}
