/** Commands on a project and on this installation. */
import type { CliCommand } from "../command.ts";

const PLACE_FLAGS = [
  { long: "user", summary: "in the user's file" },
  { long: "project", summary: "in the project file (default where there is one)" },
];

export const PROJECT_COMMANDS: readonly CliCommand[] = [
  {
    path: ["config", "list"],
    summary: "list every key and what stands for it",
    args: [],
    flags: [],
    output: "query",
    examples: [{ line: "millrace config list", says: "secrets are only said to be set" }],
    load: () => import("../commands/config.ts").then(({ list }) => ({ run: list })),
  },
  {
    path: ["config", "get"],
    summary: "print the value of a key",
    args: [{ name: "key", summary: "such as run.timeoutMs", required: true }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace config get run.graceMs", says: "the value alone" }],
    load: () => import("../commands/config.ts").then(({ get }) => ({ run: get })),
  },
  {
    path: ["config", "set"],
    summary: "write a key into the project file, else into the user's",
    args: [
      { name: "key", summary: "such as run.timeoutMs", required: true },
      { name: "value", summary: "text as it is, anything else as JSON", required: true },
    ],
    flags: PLACE_FLAGS,
    output: "query",
    examples: [
      { line: "millrace config set run.timeoutMs 60000 --user", says: "for every project" },
    ],
    load: () => import("../commands/config.ts").then(({ set }) => ({ run: set })),
  },
  {
    path: ["config", "unset"],
    summary: "take a key out of a file",
    args: [{ name: "key", summary: "such as run.timeoutMs", required: true }],
    flags: PLACE_FLAGS,
    output: "query",
    examples: [{ line: "millrace config unset run.timeoutMs --user", says: "the default again" }],
    load: () => import("../commands/config.ts").then(({ unset }) => ({ run: unset })),
  },
  {
    path: ["config", "explain"],
    summary: "say where values come from, and what they replace",
    args: [{ name: "key", summary: "a key or a group of keys; without one, all" }],
    flags: [],
    output: "query",
    examples: [
      { line: "millrace config explain run", says: "variable, file and line, or default" },
    ],
    load: () => import("../commands/config.ts").then(({ explain }) => ({ run: explain })),
  },
  {
    path: ["config", "path"],
    summary: "say where configuration and data are",
    args: [],
    flags: [],
    output: "query",
    examples: [{ line: "millrace config path", says: "user file, project file, data folder" }],
    load: () => import("../commands/config.ts").then(({ path }) => ({ run: path })),
  },
  {
    path: ["config", "schema"],
    summary: "print the JSON Schema of millrace.json",
    args: [],
    flags: [{ long: "strict", summary: "an unknown key is an error" }],
    output: "query",
    examples: [{ line: "millrace config schema --strict", says: "for editors and checks" }],
    load: () => import("../commands/config.ts").then(({ schema }) => ({ run: schema })),
  },
  {
    path: ["config", "trust"],
    summary: "let the project file grant what it says, until it changes",
    args: [],
    flags: [],
    output: "query",
    examples: [{ line: "millrace config trust", says: "read millrace.json before" }],
    load: () => import("../commands/config.ts").then(({ trust }) => ({ run: trust })),
  },
  {
    path: ["config", "login"],
    summary: "store the token of a server, from stdin or a hidden prompt",
    args: [
      { name: "url", summary: "the server; the token goes to its origin only", required: true },
    ],
    flags: [],
    output: "query",
    examples: [
      { line: "millrace config login https://mill.example < token.txt", says: "from a file" },
    ],
    load: () => import("../commands/config.ts").then(({ login }) => ({ run: login })),
  },
];
