/** Commands on schedules. */

import { arg, entry, option, PAGE_FLAGS } from "../../argv/flags.ts";
import type { ArgSpec, CliCommand } from "../../argv/spec.ts";

const ID: ArgSpec = arg("id", "the schedule", "schedule");

type Schedules = typeof import("../schedules.ts");
const from = (name: keyof Schedules) => (): ReturnType<CliCommand["load"]> =>
  import("../schedules.ts").then((module) => ({ run: module[name] }));

export const SCHEDULE_COMMANDS: readonly CliCommand[] = [
  entry("schedule list", "list schedules and when they fire next", {
    flags: PAGE_FLAGS,
    examples: [["schedule list", "what runs by itself, and when"]],
    load: from("list"),
  }),
  entry("schedule add", "run a template at times, or activate the schedules of a flow", {
    flags: [
      option("template", "<slug>", "what to run", { complete: "template" }),
      option("from", "<flow>", "activate what this file or template declares", {
        complete: "template",
      }),
      option("name", "<name>", "of --from, only the schedule of this name", { multiple: true }),
      option("cron", "<fields>", "five or six fields, such as '0 7 * * 1-5'"),
      option("every", "<duration>", "again and again, this far apart"),
      option("at", "<time>", "once, at this moment in ISO 8601 with a zone"),
      option("timezone", "<name>", "of --cron, such as Europe/Berlin (default UTC)"),
      option("input", "<k=v>", "an input; v may be @file, @-, @env:NAME", {
        short: "i",
        multiple: true,
      }),
      option("input-json", "<file>", "all inputs as one JSON object; - for stdin"),
      option("tag", "<k=v>", "a tag of its runs", { multiple: true }),
      option("overlap", "<what>", "while its last run goes on: skip (default), queue, allow", {
        choices: ["skip", "queue", "allow"],
      }),
      option("catch-up", "<what>", "times that were missed: skip (default), one, all", {
        choices: ["skip", "one", "all"],
      }),
    ],
    examples: [
      ["schedule add --template hello --every 1h", "fires while a server runs"],
      ["schedule add --from nightly.flow", "every schedule that the flow declares"],
    ],
    load: from("add"),
  }),
  entry("schedule show", "show a schedule", {
    args: [ID],
    examples: [["schedule show sch_01", "with its last error"]],
    load: from("show"),
  }),
  entry("schedule remove", "delete a schedule", {
    args: [ID],
    examples: [["schedule remove sch_01", "its runs stay"]],
    load: from("remove"),
  }),
  entry("schedule pause", "let a schedule fire no more for now", {
    args: [ID],
    examples: [["schedule pause sch_01", "until schedule resume"]],
    load: from("pause"),
  }),
  entry("schedule resume", "let a paused schedule fire again", {
    args: [ID],
    examples: [["schedule resume sch_01", "from now on"]],
    load: from("resume"),
  }),
  entry("schedule run-now", "start the run of a schedule now", {
    args: [ID],
    examples: [["schedule run-now sch_01", "its times stay as they are"]],
    load: from("runNow"),
  }),
  entry("schedule next", "say when a schedule fires next", {
    args: [ID],
    flags: [option("count", "<n>", "how many times, 1 to 100 (default 5)", { short: "n" })],
    examples: [["schedule next sch_01 -n 3", "one time a line"]],
    load: from("next"),
  }),
];
