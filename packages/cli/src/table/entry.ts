/** Rows of the table for commands that ask this installation, or a server that is named. */
import type { ArgSpec, CliCommand, FlagSpec } from "../command.ts";
import { REMOTE_FLAGS } from "./flags.ts";

/** What differs from one such command to the next. `examples`: the line without `millrace`, and what it says. */
export interface EntrySpec {
  readonly args?: readonly ArgSpec[];
  readonly flags?: readonly FlagSpec[];
  /** Default `query`. */
  readonly output?: CliCommand["output"];
  readonly examples: readonly (readonly [line: string, says: string])[];
  readonly load: CliCommand["load"];
}

/** `runs list` and its summary, with the flags of every command that may ask a server. */
export function entry(words: string, summary: string, spec: EntrySpec): CliCommand {
  const { args = [], flags = [], output = "query", examples, load } = spec;
  return {
    path: words.split(" ") as [string, ...string[]],
    summary,
    args,
    flags: [...flags, ...REMOTE_FLAGS],
    output,
    examples: examples.map(([line, says]) => ({ line: `millrace ${line}`, says })),
    load,
  };
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

/** Flags of every list. */
export const PAGE_FLAGS: readonly FlagSpec[] = [
  option("limit", "<n>", "most rows, 1 to 200 (default 50)"),
  option("cursor", "<cursor>", "go on where the page before ended"),
];
