/** Commands on a project and on this installation. */

import { arg, entry, local } from "../../argv/flags.ts";
import type { CliCommand, FlagSpec } from "../../argv/spec.ts";

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
  local("init", "make a folder a project, with an example to begin with", {
    args: [{ name: "dir", summary: "the folder (default the working directory)" }],
    flags: TEMPLATE_FLAGS,
    examples: [
      ["init my-flows", "millrace.json, flows/hello.flow, fixtures/"],
      ["init shop --template support-triage", "begin with a bigger one"],
    ],
    load: () => import("../init.ts"),
  }),
  local("new", "make another flow in the project's flows folder, from an example", {
    args: [arg("name", "name of the flow, such as daily-report")],
    flags: TEMPLATE_FLAGS,
    examples: [["new daily-report --template csv-report", "flows/daily-report.flow"]],
    load: () => import("../new.ts"),
  }),
  entry("doctor", "check this installation and say what to do", {
    flags: [
      { long: "live", summary: "also ask each provider for its models, which costs nothing" },
      { long: "prune", summary: "delete model engines that are not used any more" },
    ],
    output: "check",
    examples: [["doctor", "exit code 1 when something fails"]],
    load: () => import("../doctor.ts"),
  }),
  local("backup", "copy the store into one file, without its secrets", {
    args: [arg("file", "a file that is not there yet")],
    examples: [["backup backup.db", "also while a server runs"]],
    load: () => import("../backup.ts"),
  }),
  local("completion", "print the script that completes words in a shell", {
    args: [arg("shell", "bash, zsh or fish", "shell")],
    output: "text",
    examples: [["completion bash", "source it in ~/.bashrc"]],
    load: () => import("../completion.ts"),
  }),
  local("__complete", "answer a completion script", {
    hidden: true,
    args: [{ name: "words", summary: "the words so far, the last one unfinished", variadic: true }],
    output: "text",
    examples: [],
    load: () => import("../complete.ts"),
  }),
  local("__probe-credentials", "try the credential store for doctor", {
    hidden: true,
    args: [arg("store", "its name"), arg("dir", "data folder")],
    output: "text",
    examples: [],
    load: () => import("../probe-credentials.ts"),
  }),
  local("config list", "list every key and what stands for it", {
    examples: [["config list", "secrets are only said to be set"]],
    load: () => import("../config.ts").then(({ list }) => ({ run: list })),
  }),
  local("config get", "print the value of a key", {
    args: [arg("key", "such as run.timeoutMs", "config-key")],
    examples: [["config get run.graceMs", "the value alone"]],
    load: () => import("../config.ts").then(({ get }) => ({ run: get })),
  }),
  local("config set", "write a key into the project file, else into the user's", {
    args: [
      arg("key", "such as run.timeoutMs", "config-key"),
      {
        name: "value",
        summary: "text as it is, anything else as JSON",
        required: true,
        mayBeEmpty: true,
      },
    ],
    flags: PLACE_FLAGS,
    examples: [["config set run.timeoutMs 60000 --user", "for every project"]],
    load: () => import("../config.ts").then(({ set }) => ({ run: set })),
  }),
  local("config unset", "take a key out of a file", {
    args: [arg("key", "such as run.timeoutMs", "config-key")],
    flags: PLACE_FLAGS,
    examples: [["config unset run.timeoutMs --user", "the default again"]],
    load: () => import("../config.ts").then(({ unset }) => ({ run: unset })),
  }),
  local("config explain", "say where values come from, and what they replace", {
    args: [
      {
        name: "key",
        summary: "a key or a group of keys; without one, all",
        complete: "config-key",
      },
    ],
    examples: [["config explain run", "variable, file and line, or default"]],
    load: () => import("../config.ts").then(({ explain }) => ({ run: explain })),
  }),
  local("config path", "say where configuration and data are", {
    examples: [["config path", "user file, project file, data folder"]],
    load: () => import("../config.ts").then(({ path }) => ({ run: path })),
  }),
  local("config schema", "print the JSON Schema of millrace.json", {
    flags: [{ long: "strict", summary: "an unknown key is an error" }],
    examples: [["config schema --strict", "for editors and checks"]],
    load: () => import("../config.ts").then(({ schema }) => ({ run: schema })),
  }),
  local("config trust", "let the project file grant what it says, until it changes", {
    examples: [["config trust", "read millrace.json before"]],
    load: () => import("../config.ts").then(({ trust }) => ({ run: trust })),
  }),
  local("config login", "store the token of a server, from stdin or a hidden prompt", {
    args: [arg("url", "the server; the token goes to its origin only")],
    examples: [["config login https://mill.example < token.txt", "from a file"]],
    load: () => import("../config.ts").then(({ login }) => ({ run: login })),
  }),
];
