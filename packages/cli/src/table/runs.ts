/** Commands that run flows, and commands on runs. */
import type { CliCommand } from "../command.ts";

export const RUNS_COMMANDS: readonly CliCommand[] = [
  {
    path: ["run"],
    summary: "run a flow and show what happens",
    args: [
      { name: "file", summary: "a .flow file, a graph as JSON, or - for stdin", required: true },
    ],
    flags: [
      {
        long: "input",
        short: "i",
        value: "<k=v>",
        multiple: true,
        summary: "an input; v may be @file, @-, @env:NAME",
      },
      {
        long: "input-json",
        value: "<file>",
        summary: "all inputs as one JSON object; - for stdin",
      },
      { long: "timeout", value: "<duration>", summary: "cancel the run after this long" },
      {
        long: "grace",
        value: "<duration>",
        summary: "how long steps may take to stop (default 10s)",
      },
      {
        long: "confirm",
        value: "<node=answer>",
        multiple: true,
        summary: "answer a confirmation: approve or reject; * for all",
      },
      { long: "yes", summary: "approve every confirmation" },
      {
        long: "only",
        value: "<node>",
        multiple: true,
        summary: "run these nodes and what they need",
      },
      {
        long: "fixtures",
        value: "<dir>",
        summary: "answers recorded in this folder in place of models, network and clock",
      },
      { long: "events", value: "<file>", summary: "also write every event to this file" },
      { long: "tag", value: "<k=v>", multiple: true, summary: "a tag of the run" },
    ],
    output: "stream",
    examples: [
      { line: "millrace run hello.flow -i name=Ada", says: "run with an input" },
      { line: "millrace run hello.flow --json", says: "every event, one a line" },
    ],
    load: () => import("../commands/run.ts"),
  },
];
