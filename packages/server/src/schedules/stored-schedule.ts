/** Schedules as the store keeps them, and as commands show them. */
import type { Json, Schedule, ScheduleArgs } from "@millrace/contracts";
import type { ScheduleRow } from "@millrace/store";
import type { FireRule } from "./fire-times.ts";

/** A schedule with what it is and what it has done. */
export interface StoredSchedule {
  readonly row: ScheduleRow;
  readonly schedule: Schedule;
  readonly rule: FireRule;
}

/** What is stored of the arguments of a command. `createdAt`: epoch milliseconds. */
export function toBody(args: ScheduleArgs, createdAt: number): Json {
  return { ...args, createdAt } as unknown as Json;
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
