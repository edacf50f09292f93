/** Numbers and durations: reading with the right spelling offered for a wrong one, and printing. */

import { replacement, writing } from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import type { DurationExpression, LiteralExpression } from "./ast.ts";
import { isDigit, isNamePart, isNameStart } from "./chars.ts";
import { FAIL } from "./cursor.ts";
import type { Scanner } from "./scanner.ts";

/** Milliseconds of each unit, largest first. */
export const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
];

/** Units as other languages write them. */
const UNIT_WORDS: readonly (readonly [string, RegExp])[] = [
  ["ms", /^(?:msecs?|millis(?:econds?)?)$/],
  ["s", /^sec(?:onds?|s)?$/],
  ["m", /^min(?:utes?|s)?$/],
  ["h", /^(?:hrs?|hours?)$/],
  ["d", /^days?$/],
];

/**
 * Reads the number or duration at `pos` (a digit, or a `.` before one). `minusAt` is the place of a `-` directly before
 * it, or -1; it becomes part of a number, and is left to the caller when a duration follows.
 */
export function readNumber(s: Scanner, minusAt: number): LiteralExpression | DurationExpression {
  const { src } = s;
  const digits = s.pos;
  const start = minusAt === -1 ? digits : minusAt;
  const plain = readPlainNumber(s, start);
  if (plain !== undefined && src.charCodeAt(s.pos) !== 32) {
    s.tokenEnd = s.pos;
    return { kind: "literal", value: plain, start, end: s.pos };
  }
  let at = skipDigits(src, digits);
  const wholeEnd = at;
  if (src.charCodeAt(at) === 46 && isDigit(src.charCodeAt(at + 1))) at = skipDigits(src, at + 1);
  const mantissaEnd = at;
  at = exponentEnd(src, at);
  const bodyEnd = at;
  while (isNamePart(src.charCodeAt(at))) at += 1;
  const dangling =
    src.charCodeAt(at) === 46 && at === bodyEnd && !isNameStart(src.charCodeAt(at + 1));
  if (dangling) {
    at += 1;
    while (isNamePart(src.charCodeAt(at)) || src.charCodeAt(at) === 46) at += 1;
  }
  s.pos = s.tokenEnd = at;
  const text = src.slice(digits, at);
  const suffix = src.slice(bodyEnd, at);
  const leadingZero = wholeEnd - digits > 1 && src.charCodeAt(digits) === 48;
  const wellFormed = wholeEnd > digits && !leadingZero && !dangling;
  if (suffix === "" && wellFormed) {
    if (src.charCodeAt(at) === 32) {
      const unit = /^ +(ms|[smhd])(?![\w-])/.exec(src.slice(at, at + 9));
      if (unit && minusAt === -1) return partedUnit(s, digits, at, unit);
    }
    const isInteger = bodyEnd === wholeEnd;
    return { kind: "literal", value: numberValue(s, start, isInteger), start, end: at };
  }
  if (wellFormed && bodyEnd === mantissaEnd && /^[A-Za-z]+$/.test(suffix) && suffix !== "e") {
    return readDuration(s, digits, mantissaEnd, suffix);
  }
  return badNumber(s, start, text, minusAt !== -1);
}

/** Digits that a number holds exactly, whatever they are. */
const MAX_DIGITS = 15;

/** Reads a number that has nothing special: digits, perhaps with a minus at `start` and a fraction. Else nothing is read. */
export function readPlainNumber(s: Scanner, start: number): number | undefined {
  const { src } = s;
  const digits = src.charCodeAt(start) === 45 ? start + 1 : start;
  let at = skipDigits(src, digits);
  if (at === digits || (src.charCodeAt(digits) === 48 && at > digits + 1)) return undefined;
  const whole = at;
  if (at < src.length && src.charCodeAt(at) === 46) {
    const fraction = at + 1;
    at = skipDigits(src, fraction);
    if (at === fraction) return undefined;
  }
  const next = at < src.length ? src.charCodeAt(at) : 0;
  if (at - digits > MAX_DIGITS || isNamePart(next) || next === 46) return undefined;
  s.pos = at;
  if (whole === at) {
    // Digits that are counted up need no string.
    let value = 0;
    for (let i = digits; i < at; i += 1) value = value * 10 + src.charCodeAt(i) - 48;
    return start === digits ? value : 0 - value;
  }
  return numberOf(src.slice(start, at));
}

/** The number that a spelling says, with 0 for -0: the text has no other zero. */
function numberOf(text: string): number {
  const value = Number(text);
  return value === 0 ? 0 : value;
}

/** `10 s`: read as `10s`. */
function partedUnit(
  s: Scanner,
  start: number,
  numberEnd: number,
  [text, unit = ""]: RegExpExecArray,
): LiteralExpression | DurationExpression {
  s.pos = s.tokenEnd = numberEnd + text.length;
  s.error("FLOW1010", start, s.pos, {
    parts: { text: shown(s.src.slice(start, s.pos)) },
    fix: replacement("remove the blank", numberEnd, s.pos - unit.length, ""),
  });
  return readDuration(s, start, numberEnd, unit);
}

function skipDigits(src: string, from: number): number {
  let at = from;
  while (at < src.length && isDigit(src.charCodeAt(at))) at += 1;
  return at;
}

function exponentEnd(src: string, at: number): number {
  const code = src.charCodeAt(at);
  if (code !== 101 && code !== 69) return at;
  const sign = src.charCodeAt(at + 1);
  const digits = sign === 43 || sign === 45 ? at + 2 : at + 1;
  return isDigit(src.charCodeAt(digits)) ? skipDigits(src, digits) : at;
}

function numberValue(s: Scanner, start: number, isInteger: boolean): number {
  const text = s.src.slice(start, s.pos);
  const value = numberOf(text);
  if (!Number.isFinite(value)) {
    s.error("FLOW1012", start, s.pos);
    throw FAIL;
  }
  if (isInteger && !Number.isSafeInteger(value)) {
    const parts = { text: shown(text) };
    s.error("FLOW1013", start, s.pos, { parts, fix: ["put it in quotes", `"${text}"`] });
  }
  return value;
}

function readDuration(
  s: Scanner,
  start: number,
  numberEnd: number,
  suffix: string,
): LiteralExpression | DurationExpression {
  const number = s.src.slice(start, numberEnd);
  const unit = durationUnit(suffix);
  if (unit === undefined) {
    const near = UNIT_WORDS.find(([, words]) => words.test(suffix))?.[0];
    s.error("FLOW1011", start, s.pos, {
      parts: { unit: shown(suffix) },
      fix: writing(near, { start: numberEnd, end: s.pos }),
    });
    return { kind: "literal", value: Number(number), start, end: s.pos };
  }
  const ms = milliseconds(number, unit);
  if (!Number.isFinite(ms) || Math.abs(ms) > Number.MAX_SAFE_INTEGER) {
    s.error("FLOW1012", start, s.pos);
    throw FAIL;
  }
  if (!Number.isInteger(ms)) {
    s.error("FLOW1010", start, s.pos, {
      parts: { text: shown(number + suffix) },
      hint: "a duration is a whole number of milliseconds",
      fix: durationText(Math.round(ms)),
    });
  }
  return { kind: "duration", ms: Math.round(ms), start, end: s.pos };
}

/** The milliseconds of a unit; undefined for an unknown one. */
export function durationUnit(name: string): number | undefined {
  return UNITS.find(([unit]) => unit === name)?.[1];
}

/** `1.1` seconds are 1100 ms, although 1.1 * 1000 is not: the fraction counts in decimal places. */
export function milliseconds(number: string, unitMs: number): number {
  if (!number.includes(".")) return Number(number) * unitMs;
  const [whole = "", fraction = ""] = number.split(".");
  const places = fraction.replace(/0+$/, "");
  const scaled = Number(places) * unitMs;
  const part = scaled / 10 ** places.length;
  const exact = Number.isSafeInteger(scaled) && scaled % 10 ** places.length === 0;
  return Number(whole) * unitMs + (exact || !Number.isInteger(part) ? part : part + 0.5);
}

function badNumber(s: Scanner, start: number, text: string, negative: boolean): LiteralExpression {
  const date = dateAround(s.src, start);
  if (date) {
    const { from, text: quoted } = date;
    s.pos = s.tokenEnd = from + quoted.length;
    const parts = { text: quoted };
    s.error("FLOW1010", from, s.pos, { parts, fix: ["put it in quotes", `"${quoted}"`] });
    return { kind: "literal", value: quoted, start: from, end: s.pos };
  }
  const mended = mendNumber(text);
  const value = mended === undefined ? 0 : numberOf(`${negative ? "-" : ""}${mended}`);
  s.error("FLOW1010", start, s.pos, {
    parts: { text: shown(s.src.slice(start, s.pos)) },
    fix: mended === undefined ? undefined : numberText(value),
  });
  if (mended === undefined) throw FAIL;
  return { kind: "literal", value, start, end: s.pos };
}

/** The date without quotes of which `01` at `at` is the month or the day. */
function dateAround(src: string, at: number): { from: number; text: string } | undefined {
  const before = /(?<![\w.])\d{4}-(?:\d\d-)?$/.exec(src.slice(Math.max(0, at - 9), at))?.[0];
  if (before === undefined) return undefined;
  const from = at - before.length;
  const text = /^\d{4}-\d\d-\d\d(?:T[\d:.]*\d(?:Z|[+-]\d\d:?\d\d)?)?/.exec(
    src.slice(from, from + 40),
  )?.[0];
  return text === undefined ? undefined : { from, text };
}

/** The intended value of a number that JSON does not know. */
function mendNumber(text: string): number | undefined {
  const plain = text.replaceAll("_", "");
  const candidate = /^0[xX][0-9a-fA-F]+$|^0[oO][0-7]+$|^0[bB][01]+$/.test(plain)
    ? Number(plain)
    : /^[0-9]*\.?[0-9]*(?:[eE][0-9]*)?$/.test(plain)
      ? Number(plain.replace(/[eE]$/, ""))
      : Number.NaN;
  return Number.isFinite(candidate) && numberIsSafe(candidate) ? candidate : undefined;
}

function numberIsSafe(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
}

/** A number as ECMAScript prints it; integers that a plain spelling could not promise to keep, with an exponent. */
export function numberText(value: number): string {
  if (value === 0) return "0";
  return numberIsSafe(value) ? String(value) : value.toExponential();
}

/** A whole number of milliseconds in the largest unit that divides it: `90s`, `1m`, `0ms`. */
export function durationText(ms: number): string {
  for (const [unit, size] of UNITS) {
    if (ms !== 0 && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
