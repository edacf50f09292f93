/** `millrace schedule`: templates that run at times. Schedules fire where a server runs; here they are kept. */

import type { CommandArgs, Schedule } from "@millrace/contracts";
import { apiCommand, callApi, listed, pageOf, wholeNumber } from "../../api/command.ts";
import { timesOf } from "../../api/proposed-schedules.ts";
import { arg, option, PAGE_FLAGS, serverCommand } from "../../argv/flags.ts";
import { type ArgSpec, type CliCommand, firstArg, type Run } from "../../argv/spec.ts";
import { factLines } from "../../output/table.ts";
import { clean, formatTime } from "../../output/text.ts";
import { followToEnd, startedRun } from "../../run/follow-to-end.ts";
import { add } from "./add.ts";

const ID: ArgSpec = arg("id", "the schedule", "schedule");
const NOT_ACTIVE = "not active: schedule add --from";

const list = apiCommand("schedule list", "list schedules and when they fire next", {
  flags: PAGE_FLAGS,
  examples: [["schedule list", "what runs by itself, and when"]],
  command: "list_schedules",
  request: ({ input }) => pageOf(input),
  show: ({ items, nextCursor, proposed = [] }, all) => {
    const hasRemark = proposed.length > 0 || items.some(({ lastError }) => lastError !== undefined);
    return listed({ items: [...items, ...proposed], nextCursor }, all, {
      headings: ["SCHEDULE", "TEMPLATE", "WHEN", "NEXT", "LAST", hasRemark ? "REMARK" : ""],
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
    });
  },
});

const show = apiCommand("schedule show", "show a schedule", {
  args: [ID],
  examples: [["schedule show sch_01", "with its last error"]],
  command: "get_schedule",
  request: ({ input }) => ({ scheduleId: firstArg(input) }),
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
  request: ({ input }) => ({ scheduleId: firstArg(input), ifMatch: "*" }),
  show: (_, { input }) => ({ said: [`${clean(firstArg(input))} is deleted`] }),
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
  request: ({ input }) => ({ scheduleId: firstArg(input) }),
  show: startedRun,
  after: followToEnd,
});

const next = apiCommand("schedule next", "say when a schedule fires next", {
  args: [ID],
  flags: [option("count", "<n>", "how many times, 1 to 100 (default 5)", { short: "n" })],
  examples: [["schedule next sch_01 -n 3", "one time a line"]],
  command: "preview_schedule",
  request: ({ input }) => ({ scheduleId: firstArg(input), n: wholeNumber(input, "count") }),
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

function templateOf({ template, version }: Schedule): string {
  return version === undefined ? template : `${template}@${version}`;
}

/** The schedule as it is, with the switch turned. */
function switchTo(enabled: boolean): Run {
  return callApi({
    command: "update_schedule",
    write: true,
    request: async ({ input, api }): Promise<CommandArgs<"update_schedule">> => {
      const scheduleId = firstArg(input);
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
