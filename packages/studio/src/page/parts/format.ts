/** Durations, money, numbers and times as the page writes them: one formatter each. */
import type { FlowSchedule, Schedule } from "@millrace/contracts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time, such as `4 ms`, `2.4 s`, `3 min 5 s`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < MINUTE - 50) return `${(ms / 1_000).toFixed(1)} s`;
  const s = Math.round(ms / 1_000);
  if (ms < HOUR) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const h = Math.floor(s / 3_600);
  if (ms < DAY) return `${h} h ${Math.floor((s % 3_600) / 60)} min`;
  return `${Math.floor(h / 24)} d ${h % 24} h`;
}

/** US dollars; null: a price is unknown, which is never shown as 0. */
export function formatCost(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "unknown";
  return usd === 0 || usd >= 0.01 ? `$${usd.toFixed(2)}` : `$${Number(usd.toPrecision(2))}`;
}

const numbers = new Intl.NumberFormat();

/** A count with the reader's separators. */
export function formatNumber(value: number): string {
  return numbers.format(value);
}

const plural = new Intl.PluralRules("en");

/** A count with its noun, such as `1 node`, `2 nodes`. `many`: the plural, where it is not the noun with an `s`. */
export function formatCount(count: number, noun: string, many: string = `${noun}s`): string {
  return `${formatNumber(count)} ${plural.select(count) === "one" ? noun : many}`;
}

/** A size, such as `2.4 GB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let at = 0;
  while (value >= 1_000 && at < units.length - 1) {
    value /= 1_000;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

/** A time in the reader's words, with its zone. */
export function formatTime(time: string | number): string {
  return absolute.format(new Date(time));
}

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
// The words of the page are English.
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
/** A moment that is this near is now. */
const NOW_MS = 5_000;
/** A time that is further away is told by its date. */
const FAR_MS = 30 * DAY;

/** How long ago or ahead a time is, such as `2 minutes ago`; the date of one that is far away. */
export function formatRelative(time: string | number, now: number = Date.now()): string {
  const ms = new Date(time).getTime() - now;
  const size = Math.abs(ms);
  if (size < NOW_MS) return "just now";
  if (size >= FAR_MS) return dates.format(new Date(time));
  if (size < MINUTE) return relative.format(Math.round(ms / 1_000), "second");
  if (size < HOUR) return relative.format(Math.round(ms / MINUTE), "minute");
  if (size < DAY) return relative.format(Math.round(ms / HOUR), "hour");
  return relative.format(Math.round(ms / DAY), "day");
}

const TRIGGERS: Readonly<Record<string, string>> = {
  api: "the API",
  cli: "the command line",
  schedule: "a schedule",
  webhook: "a webhook",
};

/** The trigger of a run in words, such as `a schedule`. */
export function triggerName(trigger: string): string {
  return TRIGGERS[trigger] ?? trigger;
}

/** When a schedule fires, such as `0 7 * * 1-5, Europe/Berlin`. */
export function formatSchedule({
  cron,
  everyMs,
  at,
  timezone = "UTC",
}: Pick<Schedule | FlowSchedule, "cron" | "everyMs" | "at" | "timezone">): string {
  if (cron !== undefined) return `${cron}, ${timezone}`;
  if (everyMs !== undefined) return `every ${formatDuration(everyMs)}`;
  return at === undefined ? "" : `once at ${formatTime(at)}`;
}

/** A text with a full stop at its end, so that another sentence can follow; nothing stays nothing. */
export function sentence(text: string): string {
  return /[.!?…]$|^$/.test(text) ? text : `${text}.`;
}
