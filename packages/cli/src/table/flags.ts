/** Flags that more than one command has. */
import type { FlagSpec } from "../command.ts";

/** Flags of every command. */
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
export const REMOTE_FLAGS: readonly FlagSpec[] = [
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
