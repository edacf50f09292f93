/** The words that complete a command line: commands, flags, and the source of the values of each argument. */

import { GLOBAL_FLAGS } from "../flags.ts";
import type { CliCommand, Completer, FlagSpec } from "../spec.ts";

/** Flags of a command with those of every command. */
export function flagsOf({ flags }: CliCommand): readonly FlagSpec[] {
  return [...flags, ...GLOBAL_FLAGS, { long: "help", short: "h", summary: "show help" }];
}

/** Words that may follow the ones of a group, in the order of the table; empty for a command. */
export function wordsAfter(
  words: readonly string[],
  commands: readonly CliCommand[],
): readonly { readonly word: string; readonly summary: string }[] {
  const found = new Map<string, string>();
  for (const { path, summary } of commands) {
    if (path.length <= words.length || !words.every((word, at) => word === path[at])) continue;
    const word = path[words.length] as string;
    const isLeaf = path.length === words.length + 1;
    found.set(word, isLeaf ? summary : (found.get(word) ?? `${word} …`));
  }
  return [...found].map(([word, summary]) => ({ word, summary }));
}

/** Every sequence of words that needs another word, the empty one first. */
export function groups(commands: readonly CliCommand[]): readonly (readonly string[])[] {
  const found = new Map<string, readonly string[]>([["", []]]);
  for (const { path } of commands) {
    for (let depth = 1; depth < path.length; depth += 1) {
      const words = path.slice(0, depth);
      found.set(words.join(" "), words);
    }
  }
  return [...found.values()];
}

/** Where the values of an argument come from, when it is not the name of a file. */
export function completerAt({ args }: CliCommand, at: number): Completer | undefined {
  const arg = args[at] ?? args.findLast((each) => each.variadic);
  return arg?.complete;
}
