/** Commands on a project and on this installation. */
import type { CliCommand, FlagSpec } from "../command.ts";
import { REMOTE_FLAGS } from "./flags.ts";

const PLACE_FLAGS = [
  { long: "user", summary: "in the user's file" },
  { long: "project", summary: "in the project file (default where there is one)" },
];

const TEMPLATE_FLAGS: readonly FlagSpec[] = [
  {
    long: "template",
    value: "<name>",
    complete: "example",
    summary: "an example to begin with (default hello)",
  },
  { long: "force", summary: "replace files that are there" },
];

export const PROJECT_COMMANDS: readonly CliCommand[] = [
  {
    path: ["init"],
    summary: "make a folder a project, with an example to begin with",
    args: [{ name: "dir", summary: "the folder (default the working directory)" }],
    flags: TEMPLATE_FLAGS,
    output: "query",
    examples: [
      { line: "millrace init my-flows", says: "millrace.json, flows/hello.flow, fixtures/" },
      { line: "millrace init shop --template support-triage", says: "begin with a bigger one" },
    ],
    load: () => import("../commands/init.ts"),
  },
  {
    path: ["new"],
    summary: "make another flow in the project's flows folder, from an example",
    args: [{ name: "name", summary: "name of the flow, such as daily-report", required: true }],
    flags: TEMPLATE_FLAGS,
    output: "query",
    examples: [
      { line: "millrace new daily-report --template csv-report", says: "flows/daily-report.flow" },
    ],
    load: () => import("../commands/new.ts"),
  },
  {
    path: ["doctor"],
    summary: "check this installation and say what to do",
    args: [],
    flags: [
      { long: "live", summary: "also ask each provider for its models, which costs nothing" },
      { long: "prune", summary: "delete model engines that are not used any more" },
      ...REMOTE_FLAGS,
    ],
    output: "check",
    examples: [{ line: "millrace doctor", says: "exit code 1 when something fails" }],
    load: () => import("../commands/doctor.ts"),
  },
  {
    path: ["backup"],
    summary: "copy the store into one file, without its secrets",
    args: [{ name: "file", summary: "a file that is not there yet", required: true }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace backup backup.db", says: "also while a server runs" }],
    load: () => import("../commands/backup.ts"),
  },
  {
    path: ["completion"],
    summary: "print the script that completes words in a shell",
    args: [{ name: "shell", summary: "bash, zsh or fish", required: true, complete: "shell" }],
    flags: [],
    output: "text",
    examples: [{ line: "millrace completion bash", says: "source it in ~/.bashrc" }],
    load: () => import("../commands/completion.ts"),
  },
  {
    path: ["__complete"],
    summary: "answer a completion script",
    hidden: true,
    args: [{ name: "words", summary: "the words so far, the last one unfinished", variadic: true }],
    flags: [],
    output: "text",
    examples: [],
    load: () => import("../commands/complete.ts"),
  },
  {
    path: ["__probe-credentials"],
    summary: "try the credential store for doctor",
    hidden: true,
    args: [
      { name: "store", summary: "its name", required: true },
      { name: "dir", summary: "data folder", required: true },
    ],
    flags: [],
    output: "text",
    examples: [],
    load: () => import("../commands/probe-credentials.ts"),
  },
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
    args: [
      { name: "key", summary: "such as run.timeoutMs", required: true, complete: "config-key" },
    ],
    flags: [],
    output: "query",
    examples: [{ line: "millrace config get run.graceMs", says: "the value alone" }],
    load: () => import("../commands/config.ts").then(({ get }) => ({ run: get })),
  },
  {
    path: ["config", "set"],
    summary: "write a key into the project file, else into the user's",
    args: [
      { name: "key", summary: "such as run.timeoutMs", required: true, complete: "config-key" },
      {
        name: "value",
        summary: "text as it is, anything else as JSON",
        required: true,
        mayBeEmpty: true,
      },
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
    args: [
      { name: "key", summary: "such as run.timeoutMs", required: true, complete: "config-key" },
    ],
    flags: PLACE_FLAGS,
    output: "query",
    examples: [{ line: "millrace config unset run.timeoutMs --user", says: "the default again" }],
    load: () => import("../commands/config.ts").then(({ unset }) => ({ run: unset })),
  },
  {
    path: ["config", "explain"],
    summary: "say where values come from, and what they replace",
    args: [
      {
        name: "key",
        summary: "a key or a group of keys; without one, all",
        complete: "config-key",
      },
    ],
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
