/** Commands that run flows: begin a run, take it up again, answer what it asks. */
import type { CliCommand, FlagSpec } from "../command.ts";
import { REMOTE_FLAGS } from "./flags.ts";

const ANSWER_FLAGS: readonly FlagSpec[] = [
  {
    long: "confirm",
    value: "<node=answer>",
    multiple: true,
    summary: "answer a confirmation: approve or reject; * for all",
  },
  { long: "yes", summary: "approve every confirmation" },
];
const GRACE_FLAG: FlagSpec = {
  long: "grace",
  value: "<duration>",
  summary: "how long steps may take to stop (default 10s)",
};
const EVENTS_FLAG: FlagSpec = {
  long: "events",
  value: "<file>",
  summary: "also write every event to this file",
};

export const RUNS_COMMANDS: readonly CliCommand[] = [
  {
    path: ["run"],
    summary: "run a flow and show what happens",
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
      GRACE_FLAG,
      ...ANSWER_FLAGS,
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
      EVENTS_FLAG,
      { long: "tag", value: "<k=v>", multiple: true, summary: "a tag of the run" },
      { long: "save", summary: "keep the run: it can be resumed, replayed, and answered later" },
      { long: "watch", summary: "run again at every save of the flow or of a file of its inputs" },
      { long: "detach", summary: "leave the run to the server and print its id" },
      ...REMOTE_FLAGS,
    ],
    output: "stream",
    examples: [
      { line: "millrace run hello.flow -i name=Ada", says: "run with an input" },
      { line: "millrace run hello.flow --json", says: "every event, one a line" },
    ],
    load: () => import("../commands/run.ts"),
  },
  {
    path: ["resume"],
    summary: "go on with a kept run that was interrupted, or waits",
    args: [{ name: "run", summary: "id of the run", required: true, complete: "run" }],
    flags: [...ANSWER_FLAGS, GRACE_FLAG, EVENTS_FLAG, ...REMOTE_FLAGS],
    output: "stream",
    examples: [
      {
        line: "millrace resume run_01JD8Z6K7Q2M4N5P6R7S8T9V0W",
        says: "no step that has ended runs again",
      },
    ],
    load: () => import("../commands/resume.ts"),
  },
  {
    path: ["confirm"],
    summary: "answer what a kept run asks",
    args: [
      { name: "run", summary: "id of the run", required: true, complete: "run" },
      { name: "node", summary: "the step that asks, or the id of the confirmation" },
    ],
    flags: [
      { long: "approve", summary: "let the run go on" },
      { long: "reject", summary: "refuse" },
      {
        long: "value-json",
        value: "<file>",
        summary: "the value of the answer as JSON; - for stdin",
      },
      { long: "comment", value: "<text>", summary: "a word beside the answer" },
      ...REMOTE_FLAGS,
    ],
    output: "query",
    examples: [
      {
        line: "millrace confirm run_01JD8Z6K7Q2M4N5P6R7S8T9V0W send --approve",
        says: "the run goes on",
      },
    ],
    load: () => import("../commands/confirm.ts"),
  },
];
