/**
 * Functions over times. A time is ISO 8601 text in UTC with milliseconds, a duration a number of milliseconds; both are
 * read and written here without the platform's time zone.
 */
import { INT, NUMBER, STRING, unionOf } from "../../types/flow-type.ts";
import { fail, produceText, spend } from "../budget.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";

/** RFC 3339, section 5.6, and a date alone; without an offset it is UTC. */
const TIME =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?$/;
/** The years that four digits spell. */
const MIN_EPOCH_MS = -62_167_219_200_000;
const MAX_EPOCH_MS = 253_402_300_799_999;
const MINUTE_MS = 60_000;
/** A quoted text, a run of one letter, or one other character. */
const PATTERN_PART = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']|'/gu;

export const TIME_FUNCTIONS: readonly FunctionRow[] = [
  define<[]>({
    signature: "now() string",
    params: [],
    readsClock: true,
    returns: STRING,
    call: (ev, site) => isoTime(site, ev.nowEpoch),
  }),
  define<[number]>({
    signature: "ago(ms) string",
    params: [NUMBER],
    readsClock: true,
    returns: STRING,
    call: (ev, site, ms) => isoTime(site, ev.nowEpoch - ms),
  }),
  define<[string | number]>({
    signature: "date(string|number) string",
    params: [unionOf(STRING, NUMBER)],
    returns: STRING,
    call: (_run, site, value) =>
      isoTime(site, typeof value === "number" ? value : epochMs(site, value)),
  }),
  define<[string]>({
    signature: "epochMs(string) int",
    params: [STRING],
    returns: INT,
    call: (_run, site, time) => epochMs(site, time),
  }),
  define<[string, number]>({
    signature: "dateAdd(string, ms) string",
    params: [STRING, NUMBER],
    returns: STRING,
    call: (_run, site, time, ms) => isoTime(site, epochMs(site, time) + ms),
  }),
  define<[string, string]>({
    signature: "dateDiff(a, b) int",
    params: [STRING, STRING],
    returns: INT,
    call: (_run, site, a, b) => epochMs(site, a) - epochMs(site, b),
  }),
  define<[string, string]>({
    signature: "dateFormat(string, pattern) string",
    params: [STRING, STRING],
    returns: STRING,
    call(ev, site, time, pattern) {
      const iso = isoTime(site, epochMs(site, time));
      // Each character of a pattern is matched by itself.
      spend(ev, site, pattern.length);
      produceText(ev, site, pattern.length);
      return format(site, iso, pattern);
    },
  }),
];

/** Where each letter run of a pattern stands in an ISO time. */
const FIELDS: ReadonlyMap<string, readonly [from: number, to: number]> = new Map([
  ["yyyy", [0, 4]],
  ["MM", [5, 7]],
  ["dd", [8, 10]],
  ["HH", [11, 13]],
  ["mm", [14, 16]],
  ["ss", [17, 19]],
  ["SSS", [20, 23]],
]);

function format(site: CallSite, iso: string, pattern: string): string {
  return pattern.replaceAll(PATTERN_PART, (part: string, quoted: string | undefined, letter) => {
    if (quoted !== undefined) return quoted === "" ? "'" : quoted.replaceAll("''", "'");
    if (letter === undefined && part !== "'") return part;
    const field = FIELDS.get(part);
    if (field === undefined) {
      fail(
        site,
        "bad_argument",
        part === "'"
          ? "dateFormat found a quote that is not closed in its pattern"
          : "dateFormat knows yyyy MM dd HH mm ss SSS; put other letters in '…'",
      );
    }
    return iso.slice(...field);
  });
}

function isoTime(site: CallSite, ms: number): string {
  if (!(ms >= MIN_EPOCH_MS && ms <= MAX_EPOCH_MS)) {
    fail(site, "number_range", `${site.name} gives a time outside the years 0000 to 9999`);
  }
  return new Date(Math.floor(ms)).toISOString();
}

/** Reads a time; a day that its month does not have is no time. */
function epochMs(site: CallSite, text: string): number {
  const parts = TIME.exec(text);
  if (parts === null) return notATime(site);
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = "", offset = "Z"] = parts;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.padEnd(3, "0").slice(0, 3)),
  );
  const same =
    date.getUTCMonth() + 1 === Number(month) &&
    date.getUTCDate() === Number(day) &&
    date.getUTCHours() === Number(hour) &&
    date.getUTCMinutes() === Number(minute) &&
    date.getUTCSeconds() === Number(second);
  const shift = offsetMinutes(offset);
  if (!same || shift === undefined) return notATime(site);
  return date.getTime() - shift * MINUTE_MS;
}

function offsetMinutes(offset: string): number | undefined {
  if (offset === "Z" || offset === "z") return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function notATime(site: CallSite): never {
  fail(
    site,
    "bad_argument",
    `${site.name} found text that is not a time such as 2026-01-31T09:30:00Z`,
  );
}
