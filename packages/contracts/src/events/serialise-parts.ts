/** Parts of the hand-written serialisers: the guard that lets an event in, and its numbers and strings as JSON text. */

import { EVENT_PARTS } from "./kinds.ts";
import type { Kind } from "./types.ts";

/** Expected keys in wire order, and whether each may be absent. */
interface KeyList {
  readonly keys: readonly string[];
  readonly optional: readonly boolean[];
}

/** The keys of an event of this kind. */
export function keysOf(kind: Kind): KeyList {
  const fields = EVENT_PARTS.get(kind)?.fields ?? {};
  const optional = Object.values(fields).map(({ isOptional }) => isOptional === true);
  return { keys: Object.keys(fields), optional };
}

/** Whether the keys of `event` are those of the list, in its order, with nothing else between. */
export function hasKeys(event: object, list: KeyList): boolean {
  const { keys, optional } = list;
  let at = 0;
  for (const key in event) {
    while (keys[at] !== key) {
      if (optional[at] !== true) return false; // also past the end
      at += 1;
    }
    at += 1;
  }
  for (; at < keys.length; at += 1) if (optional[at] !== true) return false;
  return true;
}

const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const ALL_BREAKS = /[\u0085\u2028\u2029]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "\u0085": "\\u0085",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** Escapes U+0085, U+2028 and U+2029 in JSON text: legal there, but common line splitters break at them. */
export function escapeLine(json: string): string {
  // Three searches cost a tenth of one regular expression: two of them end at once on text without wide characters.
  return json.includes("\u2028") || json.includes("\u2029") || json.includes("\u0085")
    ? json.replace(ALL_BREAKS, (unit) => ESCAPES[unit] as string)
    : json;
}

/** A value as JSON text. */
export function json(value: unknown): string {
  return escapeLine(JSON.stringify(value) ?? "null");
}

/** Whether `text` is its own JSON text between quotes. */
export function isPlain(text: string): boolean {
  return typeof text === "string" && PLAIN.test(text);
}

/** A string as JSON text; other values, which a tolerant reader may have passed on, too. */
export function str(text: string): string {
  return isPlain(text) ? `"${text}"` : json(text);
}

/** Six digits: both halves of an epoch in milliseconds are then small integers, which engines convert three times faster. */
const HALF = 1_000_000;

/** The instant that was written last, and its text: most events share theirs with the one before. */
let lastInstant = 0;
let lastText = "0";

/** A number as JSON text; other values, which a tolerant reader may have passed on, too. */
export function num(value: number): string {
  if (typeof value !== "number") return json(value);
  if (value === lastInstant) return lastText;
  if (value < HALF * HALF || value >= HALF * HALF * 1_000 || value % 1 !== 0) {
    return value - value === 0 ? `${value}` : "null";
  }
  const high = Math.floor(value / HALF);
  const low = value - high * HALF;
  lastText = low < 100_000 ? `${high}${`${low}`.padStart(6, "0")}` : `${high}${low}`;
  lastInstant = value;
  return lastText;
}
