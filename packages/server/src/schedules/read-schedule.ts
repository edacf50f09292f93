/** Schedules as commands show them, and those that flows declare and that are not activated. */
import { isDeepStrictEqual } from "node:util";
import type { CommandResult, FlowSchedule, ProposedSchedule, Schedule } from "@millrace/contracts";
import type { ScheduleRow, Store, Templates } from "@millrace/store";
import { type PageArgs, pageOf } from "../dispatch/pages.ts";
import type { FireRule, Timing } from "./fire-times.ts";

/** A schedule with its definition and its last outcome. */
export interface StoredSchedule {
  readonly row: ScheduleRow;
  readonly schedule: Schedule;
  readonly rule: FireRule;
}

/** A row as commands show it, with the rule of its times. */
export function readSchedule(row: ScheduleRow): StoredSchedule {
  const { createdAt, ...args } = row.body as unknown as Omit<
    Schedule,
    "id" | "nextAt" | "lastFire" | "lastError"
  > & { readonly createdAt: number };
  const schedule: Schedule = {
    ...args,
    id: row.id,
    nextAt: row.nextAt === null ? null : toIso(row.nextAt),
    ...(row.lastFire !== null && { lastFire: toIso(row.lastFire) }),
    ...(row.lastError !== null && { lastError: row.lastError }),
  };
  return { row, schedule, rule: { timing: args, anchor: createdAt } };
}

/** Epoch milliseconds as ISO 8601 in UTC, the form of every time over HTTP. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** A page of schedules; the first one with those that flows declare and that are not activated. */
export async function listSchedules(
  store: Store,
  page: PageArgs,
): Promise<CommandResult<"list_schedules">> {
  const all = (await store.schedules.list()).map((row) => readSchedule(row).schedule);
  const found = pageOf(all, ({ id }) => id, page, { store, filter: { list: "schedules" } });
  if (page.cursor !== undefined) return found;
  return { ...found, proposed: await proposedOf(store.templates, all) };
}

/** Schedules that the flows of templates propose and that do not exist: none has this name with these times and inputs. */
async function proposedOf(
  templates: Templates,
  active: readonly Schedule[],
): Promise<ProposedSchedule[]> {
  return (await templates.proposed()).flatMap(({ slug: template, schedules }) =>
    schedules
      .filter((schedule) => {
        const same = active.filter((each) => each.template === template);
        return !same.some((each) => each.name === schedule.name && isSame(each, schedule));
      })
      .map((schedule) => ({ template, schedule })),
  );
}

function isSame(active: Schedule, proposed: FlowSchedule): boolean {
  const { inputs = {} } = active;
  return (
    sameTiming(active, { timezone: "UTC", ...proposed }) &&
    isDeepStrictEqual(inputs, proposed.inputs ?? {})
  );
}

export function sameTiming(a: Timing, b: Timing): boolean {
  return a.cron === b.cron && a.everyMs === b.everyMs && a.at === b.at && a.timezone === b.timezone;
}
