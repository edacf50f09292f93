/** The times of schedules as a person reads them. */
import type { FlowSchedule, Schedule } from "@millrace/contracts";
import { formatDuration, formatTime } from "../../parts/format.ts";

/** When a schedule fires, such as `0 7 * * 1-5, Europe/Berlin`. */
export function timesOf({
  cron,
  everyMs,
  at,
  timezone = "UTC",
}: Pick<Schedule | FlowSchedule, "cron" | "everyMs" | "at" | "timezone">): string {
  if (cron !== undefined) return `${cron}, ${timezone}`;
  if (everyMs !== undefined) return `every ${formatDuration(everyMs)}`;
  return at === undefined ? "" : `once at ${formatTime(at)}`;
}

/** The zone of the reader. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Names of zones that may be typed. */
export function knownZones(): readonly string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone")];
}

/** A time as the clocks of a zone show it. */
export function timeInZone(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, {
    dateStyle: "full",
    timeStyle: "long",
    timeZone,
  }).format(new Date(time));
}
