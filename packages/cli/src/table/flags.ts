/** Flags that more than one command has. */
import type { FlagSpec } from "../command.ts";

/** Flags of every command. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  { long: "json", summary: "one JSON value a line on stdout, the last one a summary" },
  { long: "quiet", short: "q", summary: "only errors and the last line" },
  { long: "verbose", short: "v", summary: "debug logs, and stacks of internal errors" },
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
