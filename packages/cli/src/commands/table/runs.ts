/** Commands that run flows: begin a run, take it up again, answer what it asks. */

import { arg, entry, option } from "../../argv/flags.ts";
import type { CliCommand, FlagSpec } from "../../argv/spec.ts";

const ANSWER_FLAGS: readonly FlagSpec[] = [
  {
    long: "confirm",
    value: "<node=answer>",
    multiple: true,
    summary: "answer a confirmation: approve or reject; * for all",
  },
  { long: "yes", summary: "approve every confirmation" },
];
const GRACE_FLAG: FlagSpec = option(
  "grace",
  "<duration>",
  "how long steps may take to stop (default 10s)",
);
const EVENTS_FLAG: FlagSpec = option("events", "<file>", "also write every event to this file");

export const RUNS_COMMANDS: readonly CliCommand[] = [
  entry("run", "run a flow and show what happens", {
    args: [
      {
        name: "flow",
        summary: "a .flow file, a graph as JSON, - for stdin, or the slug of a template",
        required: true,
        complete: "template",
        orFile: true,
      },
    ],
    flags: [
      option("input", "<k=v>", "an input; v may be @file, @-, @env:NAME", {
        short: "i",
        multiple: true,
      }),
      option("input-json", "<file>", "all inputs as one JSON object; - for stdin"),
      option("timeout", "<duration>", "cancel the run after this long"),
      GRACE_FLAG,
      ...ANSWER_FLAGS,
      option("only", "<node>", "run these nodes and what they need", { multiple: true }),
      option(
        "fixtures",
        "<dir>",
        "answers recorded in this folder in place of models, network and clock",
      ),
      EVENTS_FLAG,
      option("tag", "<k=v>", "a tag of the run", { multiple: true }),
      { long: "save", summary: "keep the run: it can be resumed, replayed, and answered later" },
      { long: "watch", summary: "run again at every save of the flow or of a file of its inputs" },
      { long: "detach", summary: "leave the run to the server and print its id" },
    ],
    output: "stream",
    examples: [
      ["run hello.flow -i name=Ada", "run with an input"],
      ["run hello.flow --json", "every event, one a line"],
    ],
    load: () => import("../run.ts"),
  }),
  entry("resume", "go on with a kept run that was interrupted, or waits", {
    args: [arg("run", "id of the run", "run")],
    flags: [...ANSWER_FLAGS, GRACE_FLAG, EVENTS_FLAG],
    output: "stream",
    examples: [["resume run_01JD8Z6K7Q2M4N5P6R7S8T9V0W", "no step that has ended runs again"]],
    load: () => import("../resume.ts"),
  }),
  entry("confirm", "answer what a kept run asks", {
    args: [
      arg("run", "id of the run", "run"),
      { name: "node", summary: "the step that asks, or the id of the confirmation" },
    ],
    flags: [
      { long: "approve", summary: "let the run go on" },
      { long: "reject", summary: "refuse" },
      option("value-json", "<file>", "the value of the answer as JSON; - for stdin"),
      option("comment", "<text>", "a word beside the answer"),
    ],
    examples: [["confirm run_01JD8Z6K7Q2M4N5P6R7S8T9V0W send --approve", "the run goes on"]],
    load: () => import("../confirm.ts"),
  }),
];
