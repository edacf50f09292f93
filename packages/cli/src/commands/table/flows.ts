/** Commands on the text of flows. */

import { arg, entry, local, option } from "../../argv/flags.ts";
import type { CliCommand } from "../../argv/spec.ts";

export const FLOWS_COMMANDS: readonly CliCommand[] = [
  entry("validate", "check flows without running anything", {
    args: [
      { name: "files", summary: "files or folders; - for stdin", required: true, variadic: true },
    ],
    flags: [{ long: "strict", summary: "warnings count as errors" }],
    output: "check",
    examples: [["validate hello.flow", "say what is wrong, and where"]],
    load: () => import("../validate.ts"),
  }),
  local("fmt", "rewrite flows into their one canonical form", {
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
    examples: [["fmt --check hello.flow", "for continuous integration"]],
    load: () => import("../fmt.ts"),
  }),
  entry("graph", "draw a flow, or how far a run of it got", {
    args: [
      {
        name: "flow",
        summary: "a .flow file, a graph as JSON, - for stdin, or the slug of a template",
        complete: "template",
        orFile: true,
      },
    ],
    flags: [
      option(
        "run",
        "<id>",
        "in place of a flow: that of a kept run, its nodes in colours of their states",
        { complete: "run" },
      ),
      option(
        "format",
        "<format>",
        "mermaid (default), dot for Graphviz, svg, or json with every place",
        { short: "f", choices: ["mermaid", "dot", "svg", "json"] },
      ),
      option("output", "<file>", "write to this file", { short: "o" }),
    ],
    examples: [["graph hello.flow -f svg -o hello.svg", "a picture"]],
    load: () => import("../graph.ts"),
  }),
  local("diff", "say what two flows do differently", {
    args: [arg("before", "a .flow file, a graph as JSON, or -"), arg("after", "the same")],
    flags: [
      { long: "semantic", summary: "nodes, edges and fields, whatever their order (default)" },
      { long: "text", summary: "the lines that differ" },
    ],
    output: "check",
    examples: [["diff hello.flow hello.flow", "exit code 1 when they differ"]],
    load: () => import("../diff.ts"),
  }),
  local("explain", "say what a code, a node type or a word of the language means", {
    args: [
      {
        name: "word",
        summary: "FLOW1001, 3, http.request, @retry, upper…; without one, every diagnostic",
      },
    ],
    examples: [["explain FLOW1003", "what it means, wrong and right"]],
    load: () => import("../explain.ts"),
  }),
  local("test", "run flows with their fixtures and compare the events they make", {
    args: [
      {
        name: "files",
        summary: "flows or folders (default the working directory)",
        variadic: true,
      },
    ],
    flags: [
      { long: "update", summary: "keep the events that are made now" },
      option("filter", "<regexp>", "only flows whose path matches"),
    ],
    output: "check",
    examples: [["test examples", "everything offline, from recordings"]],
    load: () => import("../test.ts"),
  }),
];
