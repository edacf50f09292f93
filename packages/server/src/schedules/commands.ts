/** Commands of schedules. What they change is seen by the scheduler at once. */
import type { Schedule, ScheduleArgs } from "@millrace/contracts";
import type { ScheduleRow } from "@millrace/store";
import {
  checkConditions,
  inTurn,
  keyed,
  keyedStart,
  tagged,
  wire,
  withTag,
} from "../dispatch/index.ts";
import { known, ProblemError } from "../errors.ts";
import { checkFlowInputs } from "../flows/stored-flows.ts";
import { newId } from "../http/index.ts";
import type { HandlerList, ServerHost } from "../ports.ts";
import { callExecutor } from "../runs/index.ts";
import {
  type FireRule,
  fireTimes,
  HORIZON_MS,
  nextFireTime,
  type Timing,
  timingProblem,
} from "./fire-times.ts";
import { listSchedules, readSchedule, sameTiming, toIso } from "./read-schedule.ts";
import { specOf, toBody } from "./stored-schedule.ts";

export const scheduleHandlers: HandlerList = [
  wire("list_schedules", (page, { host }) => listSchedules(host.store, page)),
  wire("get_schedule", async ({ scheduleId }, { host }) =>
    tagged(readSchedule(await knownSchedule(host, scheduleId)).schedule),
  ),
  wire("create_schedule", (args, call) =>
    withTag(
      keyed(call, "create_schedule", args, () =>
        writeSchedule(call.host, { id: newId("sch", call.host), args, current: null }),
      ),
    ),
  ),
  wire("update_schedule", async ({ scheduleId: id, ifMatch, ...args }, { host }) => {
    const schedule = await inTurn(host.store.schedules, async () => {
      const current = await knownSchedule(host, id);
      checkConditions(readSchedule(current).schedule, { ifMatch });
      return writeSchedule(host, { id, args, current });
    });
    return tagged(schedule);
  }),
  wire("delete_schedule", async ({ scheduleId: id, ifMatch }, { host }) => {
    await inTurn(host.store.schedules, async () => {
      checkConditions(readSchedule(await knownSchedule(host, id)).schedule, { ifMatch });
      await host.store.schedules.delete(id);
    });
    host.scheduler?.wake();
    return null;
  }),
  wire("run_schedule_now", (args, call) =>
    keyedStart(call, "run_schedule_now", args, async (rows) => {
      const { host } = call;
      const { schedule } = readSchedule(await knownSchedule(host, args.scheduleId));
      const spec = await specOf(schedule, host.store, { trigger: "api", fireTime: host.now() });
      const { tokenId, traceparent } = call.caller;
      return callExecutor(() =>
        host.executor.start({ ...spec, tokenId: tokenId ?? undefined, traceparent }, rows),
      );
    }),
  ),
  wire("preview_schedule", async ({ scheduleId, n, ...timing }, { host }) => {
    const { rule, from } =
      scheduleId === undefined ? newRule(host, timing) : await storedRule(host, scheduleId);
    const times = fireTimes(rule, { from, to: from + HORIZON_MS, limit: n });
    return { times: times.map(toIso) };
  }),
];

/** The times of a schedule that would be created now. Throws `invalid_args` for a time that never comes. */
function newRule(host: ServerHost, timing: Timing): PreviewedRule {
  const from = host.now();
  const rule = { timing, anchor: from };
  const problem = timingProblem(rule, from);
  if (problem !== undefined) throw new ProblemError("invalid_args", { errors: [problem] });
  return { rule, from };
}

async function storedRule(host: ServerHost, id: string): Promise<PreviewedRule> {
  const { rule, row } = readSchedule(await knownSchedule(host, id));
  return { rule, from: lastMoment(host, row) };
}

interface PreviewedRule {
  readonly rule: FireRule;
  /** Only fire times after this one are shown. */
  readonly from: number;
}

/** A schedule that exists. Throws `not_found`. */
const knownSchedule = async ({ store }: ServerHost, id: string): Promise<ScheduleRow> =>
  known(await store.schedules.get(id), "schedule");

interface Write {
  readonly id: string;
  readonly args: ScheduleArgs;
  /** The schedule that it replaces. */
  readonly current: ScheduleRow | null;
}

/** Throws `not_found` for its template, `input_invalid`, `invalid_args` for a time that never comes. */
async function writeSchedule(host: ServerHost, { id, args, current }: Write): Promise<Schedule> {
  const { schedules, templates } = host.store;
  const before = current === null ? null : readSchedule(current);
  const anchor = before?.rule.anchor ?? host.now();
  const rule = { timing: { timezone: "UTC", ...args }, anchor };
  const isSameTime = before !== null && sameTiming(before.rule.timing, rule.timing);
  const problem = isSameTime ? undefined : timingProblem(rule, lastMoment(host, current));
  if (problem !== undefined) throw new ProblemError("invalid_args", { errors: [problem] });
  // A template that is found here is not deleted before the schedule names it.
  return inTurn(templates, async () => {
    const { enabled = true } = args;
    const row = { id, body: toBody(args, anchor), enabled, lastFire: null, lastError: null };
    const { schedule } = readSchedule({ ...row, nextAt: null });
    const { graph, inputs } = await specOf(schedule, host.store, {
      trigger: "schedule",
      fireTime: anchor,
    });
    await checkFlowInputs(host, graph, inputs);
    // A fire that has come and was not fired yet is not lost by a change of something else.
    const isPending = isSameTime && current?.enabled === true;
    const next = isPending ? current.nextAt : nextFireTime(rule, lastMoment(host, current));
    const nextAt = enabled ? next : null;
    await schedules.put({ ...row, nextAt });
    host.scheduler?.wake();
    return readSchedule(await knownSchedule(host, id)).schedule;
  });
}

/** Nothing fires at or before this: it is past, or has fired. */
function lastMoment(host: ServerHost, row: ScheduleRow | null): number {
  return Math.max(host.now(), row?.lastFire ?? 0);
}
