/** Rows of the table in few words. */
import type { ArgSpec, CliCommand, FlagSpec } from "../command.ts";
import { REMOTE_FLAGS } from "./flags.ts";

/** What differs from one command to the next. `examples`: the line without `millrace`, and what it says. */
export interface EntrySpec {
  readonly args?: readonly ArgSpec[];
  readonly flags?: readonly FlagSpec[];
  /** Default `query`. */
  readonly output?: CliCommand["output"];
  readonly hidden?: true;
  readonly examples: readonly (readonly [line: string, says: string])[];
  readonly load: CliCommand["load"];
}

/** A command that works here, whatever server there is: `config get` and its summary. */
export function local(words: string, summary: string, spec: EntrySpec): CliCommand {
  const { args = [], flags = [], output = "query", hidden, examples, load } = spec;
  return {
    path: words.split(" ") as [string, ...string[]],
    summary,
    args,
    flags,
    output,
    ...(hidden && { hidden }),
    examples: examples.map(([line, says]) => ({ line: `millrace ${line}`, says })),
    load,
  };
}

/** A command that asks this installation, or a server that is named. */
export function entry(words: string, summary: string, spec: EntrySpec): CliCommand {
  return local(words, summary, { ...spec, flags: [...(spec.flags ?? []), ...REMOTE_FLAGS] });
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
