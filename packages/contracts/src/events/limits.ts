/** Sizes of events, and the two rules that keep them: where a text may be cut, and how long a text is in UTF-8. */
import { MAX_JSON_DEPTH } from "../json.ts";

/**
 * Sizes that writers keep at birth. A name that ends in `Bytes` counts UTF-8, the others UTF-16 units or entries.
 * @see the events page, "Limits"
 */
export const EVENT_LIMITS = {
  /** One event as a line: the smallest frame limit of common proxies and log shippers. */
  lineBytes: 262_144,
  /** A snapshot as a line; a larger one is not sent. */
  snapshotBytes: 8_388_608,
  /** An output on an event; a larger one is kept beside the log. */
  inlineBytes: 65_536,
  /** All outputs of a summary together, half a line. */
  outputsBytes: 131_072,
  logText: 16_384,
  logDataBytes: 2_048,
  deltaText: 4_096,
  toolInlineBytes: 8_192,
  message: 2_048,
  prompt: 8_192,
  preview: 1_024,
  problems: 20,
  problemText: 512,
  diagnostics: 100,
  tags: 16,
  tagText: 128,
  code: 64,
  kind: 40,
  id: 64,
  path: 512,
  /** Segments of a path: nesting beyond it is a mistake, not a flow. */
  pathDepth: 16,
} as const;

/** Limits of a view; enough for every display, small for a run of any length. */
export const VIEW_LIMITS = {
  settled: 2_000,
  resolved: 100,
  logs: 200,
  failures: 100,
  /** UTF-16 units of `NodeView.text`. */
  text: 4_096,
  /** A larger output is shown by its preview. */
  outputBytes: 4_096,
} as const;

/** Levels that an envelope and a view put around a value, so that a value of the full depth still passes on an event. */
export const EVENT_DEPTH: number = MAX_JSON_DEPTH + 8;

/**
 * The beginning of `text`, at most `max` units, never half a surrogate pair; `truncated` is the length before the cut. A half
 * that was in the text already reads U+FFFD.
 */
export function cutText(text: string, max: number): { text: string; truncated?: number } {
  if (text.length <= max) return { text: text.replace(LONE_SURROGATE, "\ufffd") };
  const cut = text.slice(0, splitsPair(text, max) ? max - 1 : max);
  return { text: cut.replace(LONE_SURROGATE, "\ufffd"), truncated: text.length };
}

const LONE_SURROGATE = /\p{Surrogate}/gu; // with `u`, a pair is one character and no surrogate

/** Whether a cut at `index` would part a surrogate pair. */
export function splitsPair(text: string, index: number): boolean {
  return isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));
}

/** Bytes of `text` in UTF-8; a lone surrogate counts as U+FFFD, three. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHigh(unit) && isLow(text.charCodeAt(i + 1))) {
      bytes += 2; // two units, four bytes
      i += 1;
    } else bytes += 2;
  }
  return bytes;
}

/** The bytes of `left` that remain after the longest text that `value` can have; negative: too little. */
function room(value: unknown, left: number, depth = 0): number {
  if (typeof value === "string") return left - value.length * 6 - 2; // \u00XX is the longest escape
  if (typeof value !== "object" || value === null) return left - 25; // -1.7976931348623157e+308
  if (depth > EVENT_DEPTH) return -1;
  let rest = left - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i += 1)
      rest = room(value[i], rest - 1, depth + 1);
    return rest;
  }
  for (const key in value) {
    rest = room((value as Record<string, unknown>)[key], rest - key.length * 6 - 4, depth + 1);
    if (rest < 0) return rest;
  }
  return rest;
}

/** Bytes of the JSON text of `value`, when they are more than `maxBytes`, infinitely many when it has none; otherwise 0. */
export function bytesBeyond(value: unknown, maxBytes: number): number {
  if (room(value, maxBytes) >= 0) return 0; // most values, and it stops early
  try {
    const bytes = utf8Length(JSON.stringify(value) ?? "");
    return bytes > maxBytes ? bytes : 0;
  } catch {
    return Number.POSITIVE_INFINITY; // a cycle, or deeper than the stack
  }
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
