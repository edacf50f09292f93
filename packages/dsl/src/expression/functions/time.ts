/**
 * Functions over times. A time is ISO 8601 text in UTC with milliseconds, a duration a number of milliseconds; both are
 * read and written here without the time zone of the machine.
 */
import type { Json } from "@millrace/contracts";
import { durationUnit, milliseconds } from "../../syntax/numbers.ts";
import { NUMBER, STRING, unionOf } from "../../types/flow-type.ts";
import { badArgument, type Evaluation, fail, handleText, produceText, spend } from "../budget.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { findZone, instantOf, type Zone, zoneProblem } from "./zones.ts";

/** RFC 3339, section 5.6, and a date alone; without an offset it is UTC. */
const TIME =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?)?$/;
/** The years that four digits spell. */
const MIN_EPOCH_MS = -62_167_219_200_000;
const MAX_EPOCH_MS = 253_402_300_799_999;
const MINUTE_MS = 60_000;
/** A quoted text, a run of one letter, or one other character. */
const PATTERN_PART = /'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']|'/gu;

export const TIME_FUNCTIONS: readonly FunctionRow[] = [
  define<[]>({
    signature: "now() string",
    readsClock: true,
    call: (ev, site) => isoTime(site, ev.nowEpoch),
  }),
  define<[number]>({
    signature: "ago(ms) string",
    params: [NUMBER],
    readsClock: true,
    call: (ev, site, ms) => isoTime(site, ev.nowEpoch - ms),
  }),
  define<[string | number, string | undefined]>({
    signature: "date(string|number, zone?) string",
    params: [unionOf(STRING, NUMBER), STRING],
    check: (literal, index) => (index === 1 ? zoneProblem(literal as string) : undefined),
    call(ev, site, value, name) {
      const zone = findZone(ev, site, name);
      return isoTime(site, typeof value === "number" ? value : epochMs(site, value, zone));
    },
  }),
  define<[string]>({
    signature: "epochMs(string) int",
    call: (_run, site, time) => epochMs(site, time),
  }),
  define<[string, number]>({
    signature: "dateAdd(string, ms) string",
    params: [STRING, NUMBER],
    call: (_run, site, time, ms) => isoTime(site, epochMs(site, time) + ms),
  }),
  define<[string, string]>({
    signature: "dateDiff(a, b) int",
    params: [STRING, STRING],
    call: (_run, site, a, b) => epochMs(site, a) - epochMs(site, b),
  }),
  define<[string, string, string | undefined]>({
    signature: "dateFormat(string, pattern, zone?) string",
    params: [STRING, STRING, STRING],
    check: checkFormat,
    call(ev, site, time, pattern, name) {
      const at = epochMs(site, time);
      const offsetMs = findZone(ev, site, name).offsetMs(at);
      const shown = isoTime(site, at + offsetMs);
      produceText(ev, site, pattern.length);
      return piecesOf(ev, site, pattern)
        .map((piece) => {
          if (typeof piece === "string") return piece;
          return piece.from < 0 ? offsetText(offsetMs) : shown.slice(piece.from, piece.to);
        })
        .join("");
    },
  }),
  define<[string, string, string | undefined]>({
    signature: "dateParse(string, pattern, zone?) string",
    params: [STRING, STRING, STRING],
    check: (literal, index) =>
      checkFormat(literal, index) ?? (index === 1 ? dayProblem(literal as string) : undefined),
    call(ev, site, text, pattern, name) {
      handleText(ev, site, text.length);
      const pieces = piecesOf(ev, site, pattern);
      const problem = dayProblem(pattern);
      if (problem !== undefined) badArgument(site, `dateParse: ${problem}`);
      const shown = readShown(pieces, text);
      if (shown === undefined) {
        badArgument(site, "dateParse found text that is not as its pattern says");
      }
      return isoTime(site, epochMs(site, shown, findZone(ev, site, name)));
    },
  }),
  define<[string]>({
    signature: "parseDuration(string) int",
    check: (literal) => (durationMs(literal as string) === undefined ? NO_DURATION : undefined),
    call(ev, site, text) {
      handleText(ev, site, text.length);
      return durationMs(text) ?? badArgument(site, `parseDuration: ${NO_DURATION}`);
    },
  }),
];

/** A part of a time, by where it stands in an ISO time; `from` of the offset is -1. */
interface Field {
  readonly from: number;
  readonly to: number;
}

/** The letters of a pattern. */
const FIELDS: ReadonlyMap<string, Field> = new Map([
  ["yyyy", { from: 0, to: 4 }],
  ["MM", { from: 5, to: 7 }],
  ["dd", { from: 8, to: 10 }],
  ["HH", { from: 11, to: 13 }],
  ["mm", { from: 14, to: 16 }],
  ["ss", { from: 17, to: 19 }],
  ["SSS", { from: 20, to: 23 }],
  ["XXX", { from: -1, to: -1 }],
]);

/** Why the pattern or the zone of a format is refused. */
function checkFormat(literal: Json, index: number): string | undefined {
  const text = literal as string;
  if (index === 0) return undefined;
  return index === 1 ? patternProblem(text.match(PATTERN_PART) ?? []) : zoneProblem(text);
}

function patternProblem(parts: readonly string[]): string | undefined {
  if (parts.includes("'")) return "a quote is not closed in its pattern";
  const isKnown = parts.every((part) => !/^[A-Za-z]/.test(part) || FIELDS.has(part));
  return isKnown
    ? undefined
    : `its pattern knows ${[...FIELDS.keys()].join(" ")}; put other letters in '…'`;
}

/** A time to be read has a day. */
function dayProblem(pattern: string): string | undefined {
  const parts: readonly string[] = pattern.match(PATTERN_PART) ?? [];
  return ["yyyy", "MM", "dd"].every((part) => parts.includes(part))
    ? undefined
    : "its pattern needs yyyy, MM and dd";
}

/** A pattern as a list of literal texts and of parts of a time. */
function piecesOf(ev: Evaluation, site: CallSite, pattern: string): (string | Field)[] {
  // Each character of a pattern is matched by itself.
  spend(ev, site, pattern.length);
  const parts = pattern.match(PATTERN_PART) ?? [];
  const problem = patternProblem(parts);
  if (problem !== undefined) badArgument(site, `${site.name}: ${problem}`);
  return parts.map((part) => {
    if (part.startsWith("'")) return part === "''" ? "'" : part.slice(1, -1).replaceAll("''", "'");
    return FIELDS.get(part) ?? part;
  });
}

/** The time in a text, as ISO 8601; parts that the pattern omits are those of midnight. Undefined when the text does not fit. */
function readShown(pieces: readonly (string | Field)[], text: string): string | undefined {
  const shown = Array.from("0000-00-00T00:00:00.000");
  let offset = "";
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === "string") {
      if (!text.startsWith(piece, at)) return undefined;
      at += piece.length;
    } else if (piece.from < 0) {
      offset = /^(?:Z|[+-]\d\d:\d\d)/.exec(text.slice(at, at + 6))?.[0] ?? "";
      if (offset === "") return undefined;
      at += offset.length;
    } else {
      const size = piece.to - piece.from;
      const digits = text.slice(at, at + size);
      if (digits.length < size || !/^\d+$/.test(digits)) return undefined;
      shown.splice(piece.from, size, ...digits);
      at += size;
    }
  }
  return at === text.length ? shown.join("") + offset : undefined;
}

function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return "Z";
  const minutes = Math.floor(Math.abs(offsetMs) / MINUTE_MS);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${offsetMs < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** `1d2h3m4s5ms`, each unit at most once, as the language writes one of them. */
const UNITS_IN_ORDER =
  /^(?=.)(?:\d+(?:\.\d+)?d)?(?:\d+(?:\.\d+)?h)?(?:\d+(?:\.\d+)?m)?(?:\d+(?:\.\d+)?s)?(?:\d+(?:\.\d+)?ms)?$/;
/** ISO 8601, section 5.5.2, without years and months, which have no length of their own. */
const ISO_DURATION =
  /^P(?=.)(?:\d+(?:\.\d+)?W)?(?:\d+(?:\.\d+)?D)?(?:T(?=.)(?:\d+(?:\.\d+)?H)?(?:\d+(?:\.\d+)?M)?(?:\d+(?:\.\d+)?S)?)?$/;
const MAX_DURATION = 64;
const WEEK_MS = 604_800_000;
const NO_DURATION =
  "a duration is written `1h30m` with units d h m s ms, or `PT1H30M` without years and months, in whole milliseconds";

/** The milliseconds of a duration; undefined for any other text. */
function durationMs(text: string): number | undefined {
  if (text.length > MAX_DURATION) return undefined;
  if (!UNITS_IN_ORDER.test(text) && !ISO_DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, number = "", unit = ""] of text.matchAll(/([\d.]+)([A-Za-z]+)/g)) {
    const name = unit.replace(/T$/, "").toLowerCase();
    const size = name === "w" ? WEEK_MS : (durationUnit(name) ?? 0);
    total += milliseconds(number, size);
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

function isoTime(site: CallSite, ms: number): string {
  if (!(ms >= MIN_EPOCH_MS && ms <= MAX_EPOCH_MS)) {
    fail(site, "number_range", `${site.name} gives a time outside the years 0000 to 9999`);
  }
  return new Date(Math.floor(ms)).toISOString();
}

/** Reads a time, without an offset that of a zone; a day that its month does not have is no time. */
function epochMs(site: CallSite, text: string, zone?: Zone): number {
  const parts = TIME.exec(text);
  if (parts === null) return notATime(site);
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = "", offset] = parts;
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
  const shift = offsetMinutes(offset ?? "Z");
  if (!same || shift === undefined) return notATime(site);
  if (offset === undefined && zone !== undefined) return instantOf(zone, date.getTime());
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
  badArgument(site, `${site.name} found text that is not a time such as 2026-01-31T09:30:00Z`);
}
