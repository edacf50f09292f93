/** `millrace schedule`: templates that run at times. Schedules fire where a server runs; here they are kept. */

import type { CommandArgs, Schedule, ScheduleArgs, Template } from "@millrace/contracts";
import type { Api } from "../api/api.ts";
import {
  apiCommand,
  type CommandContext,
  callApi,
  durationOf,
  listed,
  omitUndefined,
  pageOf,
  pairsOf,
  wholeNumber,
  withApi,
} from "../api/command.ts";
import { activate, activeLine, timesOf } from "../api/proposed-schedules.ts";
import { arg, option, PAGE_FLAGS, serverCommand } from "../argv/flags.ts";
import {
  type ArgSpec,
  type CliCommand,
  flagList,
  flagText,
  type Input,
  type Run,
} from "../argv/spec.ts";
import { usage } from "../errors.ts";
import { factLines } from "../output/table.ts";
import { clean, formatTime } from "../output/text.ts";
import { followToEnd, startedRun } from "../run/follow-to-end.ts";

const ID: ArgSpec = arg("id", "the schedule", "schedule");

const list = apiCommand("schedule list", "list schedules and when they fire next", {
  flags: PAGE_FLAGS,
  examples: [["schedule list", "what runs by itself, and when"]],
  command: "list_schedules",
  request: ({ input }) => pageOf(input),
  show: (page, all) =>
    listed({ ...page, items: [...page.items, ...(page.proposed ?? [])] }, all, {
      headings: ["SCHEDULE", "TEMPLATE", "WHEN", "NEXT", "LAST", ""],
      row: (each) =>
        "schedule" in each
          ? [each.schedule.name, each.template, timesOf(each.schedule), "proposed", "-", NOT_ACTIVE]
          : [
              each.id,
              templateOf(each),
              timesOf(each),
              each.enabled ? formatTime(each.nextAt) : "paused",
              formatTime(each.lastFire),
              each.lastError ?? "",
            ],
      none: "no schedule; millrace schedule add --template SLUG --every 1h makes one",
    }),
});

const add = serverCommand(
  "schedule add",
  "run a template at times, or activate the schedules of a flow",
  {
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
    run: (...all) => (flagText(all[0], "from") === undefined ? addOne : addDeclared)(...all),
  },
);

const addOne: Run = callApi({
  command: "create_schedule",
  write: true,
  request: async (all) => ({ ...readTimes(all.input), ...(await readRest(all)) }),
  show: (schedule, { api }) => ({
    data: [schedule.id],
    said: [`${schedule.template} fires next at ${formatTime(schedule.nextAt)}`, ...firesWhere(api)],
  }),
});

const addDeclared: Run = (input, io) => {
  const from = flagText(input, "from") ?? "";
  const other = WITHOUT_FROM.find((name) => flagGiven(input, name));
  if (other !== undefined) throw usage(`--from does not go with --${other}: the flow says it`);
  return withApi(
    input,
    io,
    true,
    async (api) => {
      const { template, said } = await templateFrom(from, { input, io, api });
      const made = await activate(api, template, flagList(input, "name"));
      return {
        value: { items: made, nextCursor: null },
        data: made.map(({ id }) => id),
        said: [...said, ...made.map(activeLine), ...firesWhere(api)],
      };
    },
    from,
  );
};

const show = apiCommand("schedule show", "show a schedule", {
  args: [ID],
  examples: [["schedule show sch_01", "with its last error"]],
  command: "get_schedule",
  request: ({ input }) => ({ scheduleId: idOf(input) }),
  show: (each) => ({
    data: factLines([
      ["schedule", each.id],
      ["name", each.name],
      ["template", templateOf(each)],
      ["when", timesOf(each)],
      ["timezone", each.timezone],
      ["state", each.enabled ? "on" : "paused"],
      ["next", each.nextAt === null ? undefined : formatTime(each.nextAt)],
      ["last", each.lastFire && formatTime(each.lastFire)],
      ["last error", each.lastError],
      ["overlap", each.overlap],
      ["catch-up", each.catchUp],
      ["inputs", each.inputs && JSON.stringify(each.inputs)],
      ["tags", each.tags && JSON.stringify(each.tags)],
    ]),
  }),
});

const remove = apiCommand("schedule remove", "delete a schedule", {
  args: [ID],
  examples: [["schedule remove sch_01", "its runs stay"]],
  command: "delete_schedule",
  write: true,
  request: ({ input }) => ({ scheduleId: idOf(input), ifMatch: "*" }),
  show: (_, { input }) => ({ said: [`${clean(idOf(input))} is deleted`] }),
});

const pause = serverCommand("schedule pause", "let a schedule fire no more for now", {
  args: [ID],
  examples: [["schedule pause sch_01", "until schedule resume"]],
  run: switchTo(false),
});

const resume = serverCommand("schedule resume", "let a paused schedule fire again", {
  args: [ID],
  examples: [["schedule resume sch_01", "from now on"]],
  run: switchTo(true),
});

const runNow = apiCommand("schedule run-now", "start the run of a schedule now", {
  args: [ID],
  examples: [["schedule run-now sch_01", "its times stay as they are"]],
  command: "run_schedule_now",
  write: true,
  request: ({ input }) => ({ scheduleId: idOf(input) }),
  show: startedRun,
  after: followToEnd,
});

const next = apiCommand("schedule next", "say when a schedule fires next", {
  args: [ID],
  flags: [option("count", "<n>", "how many times, 1 to 100 (default 5)", { short: "n" })],
  examples: [["schedule next sch_01 -n 3", "one time a line"]],
  command: "preview_schedule",
  request: ({ input }) => ({ scheduleId: idOf(input), n: wholeNumber(input, "count") }),
  show: ({ times }) =>
    times.length === 0 ? { said: ["it never fires again"] } : { data: times.map(formatTime) },
});

export const commands: readonly CliCommand[] = [
  list,
  add,
  show,
  remove,
  pause,
  resume,
  runNow,
  next,
];

/** What a flow declares itself. */
const WITHOUT_FROM = [
  ...["template", "cron", "every", "at", "timezone"],
  ...["input", "input-json", "overlap", "catch-up", "tag"],
];
const NOT_ACTIVE = "not active: schedule add --from";

function flagGiven(input: Input, name: string): boolean {
  return flagText(input, name) !== undefined || flagList(input, name).length > 0;
}

/** Schedules that this installation stores fire while a server runs on its data folder. */
function firesWhere({ where }: Api): string[] {
  return where === "embedded"
    ? ["a schedule fires only while a server runs here: millrace serve"]
    : [];
}

function idOf(input: Input): string {
  return input.args[0] ?? "";
}

function templateOf({ template, version }: Schedule): string {
  return version === undefined ? template : `${template}@${version}`;
}

/** The template of `--from`: a file is stored first, under the id of its flow. */
async function templateFrom(
  from: string,
  { input, io, api }: CommandContext,
): Promise<{ readonly template: Template; readonly said: readonly string[] }> {
  const { isSlug } = await import("../run/find-flow.ts");
  if (await isSlug(from, io)) {
    return { template: await api.invoke("get_template", { slug: from }), said: [] };
  }
  const { saveFlow } = await import("../api/save-flow.ts");
  const template = await saveFlow(undefined, from, { input, io, api });
  return { template, said: [`${template.slug} is stored, version ${template.version}`] };
}

/** The schedule as it is, with the switch turned. */
function switchTo(enabled: boolean): Run {
  return callApi({
    command: "update_schedule",
    write: true,
    request: async ({ input, api }): Promise<CommandArgs<"update_schedule">> => {
      const scheduleId = idOf(input);
      const {
        id: _id,
        nextAt: _nextAt,
        lastFire: _lastFire,
        lastError: _lastError,
        ...is
      } = await api.invoke("get_schedule", { scheduleId });
      return { ...is, scheduleId, enabled, ifMatch: "*" };
    },
    show: ({ id, nextAt }) => ({
      said: [
        enabled
          ? `${id} fires next at ${formatTime(nextAt)}`
          : `${id} is paused; millrace schedule resume ${id} lets it fire again`,
      ],
    }),
  });
}

/** When: exactly one of three flags. */
function readTimes(input: Input) {
  const times = omitUndefined({
    cron: flagText(input, "cron"),
    everyMs: durationOf(input, "every"),
    at: flagText(input, "at"),
  });
  if (Object.keys(times).length !== 1) {
    throw usage("schedule add takes exactly one of --cron, --every and --at");
  }
  return { ...times, timezone: flagText(input, "timezone") };
}

/** What, with which inputs. Inputs are read as the flow of the template declares them. */
async function readRest({ input, io, api }: CommandContext) {
  const template = flagText(input, "template");
  if (template === undefined) throw usage("schedule add needs --template SLUG");
  const words = flagList(input, "input");
  const jsonFile = flagText(input, "input-json");
  const wants = words.length > 0 || jsonFile !== undefined;
  const read = async (): Promise<ScheduleArgs["inputs"]> => {
    const { readInputs } = await import("../run/inputs.ts");
    const { graph } = await api.invoke("get_template", { slug: template });
    return readInputs(graph, words, jsonFile, io);
  };
  const inputs = wants ? await read() : undefined;
  return {
    template,
    inputs,
    tags: pairsOf(input, "tag"),
    overlap: flagText(input, "overlap") as Schedule["overlap"] | undefined,
    catchUp: flagText(input, "catch-up") as Schedule["catchUp"] | undefined,
  };
}
