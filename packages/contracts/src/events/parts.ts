/**
 * Parts from which the payloads of all kinds are put together, once, as data: `part-problem.ts` judges values by them, and
 * the zod schemas of events are built from them.
 */
import { EVENT_LIMITS } from "./limits.ts";

/** One part. `isOptional`: the key may be absent from its object. */
export type Part = Shape & { readonly isOptional?: true };

type Shape =
  | { readonly is: "object"; readonly fields: Fields; readonly entries: readonly Entry[] }
  | { readonly is: "list"; readonly of: Part; readonly max: number }
  | { readonly is: "record"; readonly of: Part; readonly max: number; readonly maxKey: number }
  | { readonly is: "text"; readonly min: number; readonly max: number }
  | { readonly is: "pattern"; readonly says: string; readonly expression: RegExp }
  /** A word of a list; one that is open may get further members, which a reader takes as text. */
  | { readonly is: "word"; readonly words: readonly string[]; readonly isOpen: boolean }
  | { readonly is: "literal"; readonly value: string | number | boolean }
  | { readonly is: "nullable"; readonly of: Part }
  | { readonly is: "integer"; readonly min: number }
  | { readonly is: "number"; readonly min: number; readonly max: number }
  | { readonly is: "flag" }
  | { readonly is: "path" }
  /** Any JSON whose text is at most `maxBytes` long. */
  | { readonly is: "json"; readonly maxBytes: number; readonly isObject: boolean };

/** The part of an object; `entries` are its fields as a list, which is walked three times faster. */
export type ObjectPart = Extract<Part, { is: "object" }>;

/** Parts by key, in wire order. */
export type Fields = Readonly<Record<string, Part>>;
type Entry = readonly [key: string, part: Part];

const ANY = Number.POSITIVE_INFINITY;

export function optional(inner: Part): Part {
  return { ...inner, isOptional: true };
}

export function nullable(of: Part): Part {
  return { is: "nullable", of };
}

export function object(fields: Fields): ObjectPart {
  return { is: "object", fields, entries: Object.entries(fields) };
}

export function list(of: Part, max: number = ANY): Part {
  return { is: "list", of, max };
}

/** A record of at most `max` entries, whose keys have at most `maxKey` units. */
export function record(of: Part, max: number = ANY, maxKey: number = ANY): Part {
  return { is: "record", of, max, maxKey };
}

/** A string of `min` to `max` UTF-16 units. */
export function text(max: number = ANY, min = 0): Part {
  return { is: "text", min, max };
}

/** One of a list that is closed for ever. */
export function oneOf(...words: string[]): Part {
  return { is: "word", words, isOpen: false };
}

/** One of a list that may grow. */
export function open(...words: string[]): Part {
  return { is: "word", words, isOpen: true };
}

export function literal(value: string | number | boolean): Part {
  return { is: "literal", value };
}

export function integer(min: number): Part {
  return { is: "integer", min };
}

/** A number from `min` (default 0) to `max`. */
export function amount(max: number = Number.MAX_VALUE, min = 0): Part {
  return { is: "number", min, max };
}

export function json(maxBytes: number = ANY): Part {
  return { is: "json", maxBytes, isObject: false };
}

export function jsonObject(maxBytes: number = ANY): Part {
  return { is: "json", maxBytes, isObject: true };
}

function pattern(says: string, expression: RegExp): Part {
  return { is: "pattern", says, expression };
}

export const flag: Part = { is: "flag" };
export const path: Part = { is: "path" };
export const count: Part = integer(0);
export const id: Part = pattern("a legal id", /^[A-Za-z0-9_-]{1,64}$/);
export const code: Part = pattern(
  "a snake_case code of at most 64 characters",
  /^[a-z][a-z0-9_]{0,63}$/,
);
export const digest: Part = pattern("sha256: and 64 hex digits", /^sha256:[0-9a-f]{64}$/);
export const message: Part = text(EVENT_LIMITS.message);

/** `ErrorInfo`, for objects that say more. */
export const errorFields: Fields = {
  code,
  message,
  retryable: flag,
  status: optional(integer(0)),
  cause: optional(code),
};
export const errorInfo: Part = object(errorFields);

/** `ValueRef`; `ref` is empty where the value is not kept. */
export const valueRef: Part = object({
  ref: pattern("sha256: and 64 hex digits, or empty", /^(sha256:[0-9a-f]{64})?$/),
  bytes: count,
  mediaType: text(255),
  preview: optional(text(EVENT_LIMITS.preview)),
});

/** What started a run. */
export const trigger: Part = open("cli", "api", "schedule", "webhook", "desktop", "embed");

export const usage: Part = object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: optional(count),
  cacheWriteTokens: optional(count),
  reasoningTokens: optional(count),
});

export const summaryUsage: Part = object({
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
});

export const counts: Part = object({
  succeeded: count,
  failed: count,
  skipped: count,
  cancelled: count,
});

export const range: Part = object(
  Object.fromEntries(
    ["start", "end"].map((key) => [
      key,
      object({ line: integer(1), column: integer(1), offset: count }),
    ]),
  ),
);

/** `Diagnostic`. */
export const diagnostic: Part = object({
  code: text(ANY, 1),
  severity: oneOf("error", "warning", "info"),
  message: text(),
  pointer: optional(text()),
  range: optional(range),
  hint: optional(text()),
  related: optional(list(object({ range, message: text() }))),
  fixes: optional(list(object({ title: text(), edits: list(object({ range, newText: text() })) }))),
});
