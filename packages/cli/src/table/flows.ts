/** Commands on the text of flows. */
import type { CliCommand } from "../command.ts";
import { REMOTE_FLAGS } from "./flags.ts";

export const FLOWS_COMMANDS: readonly CliCommand[] = [
  {
    path: ["validate"],
    summary: "check flows without running anything",
    args: [
      { name: "files", summary: "files or folders; - for stdin", required: true, variadic: true },
    ],
    flags: [{ long: "strict", summary: "warnings count as errors" }, ...REMOTE_FLAGS],
    output: "check",
    examples: [{ line: "millrace validate hello.flow", says: "say what is wrong, and where" }],
    load: () => import("../commands/validate.ts"),
  },
  {
    path: ["fmt"],
    summary: "rewrite flows into their one canonical form",
    args: [
      {
        name: "files",
        summary: "files or folders; - for stdin to stdout",
        required: true,
        variadic: true,
      },
    ],
    flags: [
      { long: "check", summary: "change nothing, print the difference, exit 1 where there is one" },
      { long: "stdout", summary: "print instead of writing" },
    ],
    output: "check",
    examples: [{ line: "millrace fmt --check hello.flow", says: "for continuous integration" }],
    load: () => import("../commands/fmt.ts"),
  },
  {
    path: ["graph"],
    summary: "draw a flow, or how far a run of it got",
    args: [
      {
        name: "flow",
        summary: "a .flow file, a graph as JSON, - for stdin, or the slug of a template",
        complete: "template",
        orFile: true,
      },
    ],
    flags: [
      {
        long: "run",
        value: "<id>",
        complete: "run",
        summary: "in place of a flow: that of a kept run, its nodes in colours of their states",
      },
      {
        long: "format",
        short: "f",
        value: "<format>",
        choices: ["mermaid", "dot", "svg", "json"],
        summary: "mermaid (default), dot for Graphviz, svg, or json with every place",
      },
      { long: "output", short: "o", value: "<file>", summary: "write to this file" },
      ...REMOTE_FLAGS,
    ],
    output: "query",
    examples: [{ line: "millrace graph hello.flow -f svg -o hello.svg", says: "a picture" }],
    load: () => import("../commands/graph.ts"),
  },
  {
    path: ["diff"],
    summary: "say what two flows do differently",
    args: [
      { name: "before", summary: "a .flow file, a graph as JSON, or -", required: true },
      { name: "after", summary: "the same", required: true },
    ],
    flags: [
      { long: "semantic", summary: "nodes, edges and fields, whatever their order (default)" },
      { long: "text", summary: "the lines that differ" },
    ],
    output: "check",
    examples: [
      { line: "millrace diff hello.flow hello.flow", says: "exit code 1 when they differ" },
    ],
    load: () => import("../commands/diff.ts"),
  },
  {
    path: ["explain"],
    summary: "say what a diagnostic, an exit code or a node type means",
    args: [{ name: "word", summary: "FLOW1001, 3, http.request…; without one, every diagnostic" }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace explain FLOW1003", says: "what it means, wrong and right" }],
    load: () => import("../commands/explain.ts"),
  },
  {
    path: ["test"],
    summary: "run flows with their fixtures and compare the events they make",
    args: [
      {
        name: "files",
        summary: "flows or folders (default the working directory)",
        variadic: true,
      },
    ],
    flags: [
      { long: "update", summary: "keep the events that are made now" },
      { long: "filter", value: "<regexp>", summary: "only flows whose path matches" },
    ],
    output: "check",
    examples: [{ line: "millrace test examples", says: "everything offline, from recordings" }],
    load: () => import("../commands/test.ts"),
  },
];
