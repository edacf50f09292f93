/** Commands that look back at runs, and steer those that go on. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const RUN: ArgSpec = arg("id", "the run, or how its id begins", "run");
const STATUS = option("status", "<status>", "runs of this status", {
  multiple: true,
  choices: ["pending", "running", "paused", "cancelling", "succeeded", "failed", "cancelled"],
});

type Runs = typeof import("../runs.ts");
const runs = (name: keyof Runs) => (): ReturnType<CliCommand["load"]> =>
  import("../runs.ts").then((module) => ({ run: module[name] }));

export const HISTORY_COMMANDS: readonly CliCommand[] = [
  entry("runs list", "list runs, newest first", {
    flags: [
      STATUS,
      option("template", "<slug>", "runs of this template", { complete: "template" }),
      option("tag", "<k=v>", "runs with this tag", { multiple: true }),
      ...PAGE_FLAGS,
    ],
    examples: [["runs list --status failed", "what went wrong lately"]],
    load: runs("list"),
  }),
  entry("runs show", "show a run as a tree, and what it made", {
    args: [{ name: "id", summary: "the run (default the last one)", complete: "run" }],
    examples: [["runs show run_01", "every step, and why it failed"]],
    load: () => import("../run-views.ts").then(({ show }) => ({ run: show })),
  }),
  entry("runs tail", "show what a run has done, then what it does, to its end", {
    args: [RUN],
    output: "stream",
    examples: [["runs tail run_01 --json", "every event, one a line"]],
    load: () => import("../run-views.ts").then(({ tail }) => ({ run: tail })),
  }),
  entry("runs cancel", "stop a run", {
    args: [RUN],
    flags: [
      option("reason", "<text>", "why, for its log"),
      option("grace", "<duration>", "how long steps may take to stop (default 2s)"),
    ],
    examples: [["runs cancel run_01", "its steps are stopped"]],
    load: runs("cancel"),
  }),
  entry("runs retry", "repeat a run as a new one that keeps earlier results", {
    args: [RUN],
    flags: [option("from", "<node>", "repeat this step and what follows it", { multiple: true })],
    examples: [["runs retry run_01", "what did not succeed runs again"]],
    load: runs("retry"),
  }),
  entry("runs delete", "delete a run that has ended", {
    args: [RUN],
    examples: [["runs delete run_01", "with its log"]],
    load: runs("remove"),
  }),
  entry("runs prune", "delete ended runs by age or status", {
    flags: [option("before", "<time>", "older than this: 30d, or a moment in ISO 8601"), STATUS],
    examples: [["runs prune --before 30d", "what ended or began a month ago"]],
    load: runs("prune"),
  }),
  entry("replay", "show a run again from its log; nothing is executed", {
    args: [{ ...arg("run", "a run, a file of events, or - for stdin", "run"), orFile: true }],
    flags: [
      option("speed", "<speed>", "1: as fast as it was; max: at once (default)", {
        choices: ["1", "max"],
      }),
      option("until", "<seq>", "up to this event"),
    ],
    output: "stream",
    examples: [["replay events.ndjson --speed 1", "what run --events has written"]],
    load: () => import("../replay.ts"),
  }),
];
