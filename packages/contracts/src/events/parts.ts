/** Shapes from which the payloads of all kinds are put together, and what is said of an event that has another one. */
import type { Json, JsonObject } from "../json.ts";
import { isObject } from "../kit/objects.ts";
import { pointerKeys } from "../kit/pointer.ts";
import * as shape from "../shape/index.ts";
import { type Fault, faultsOf, integer, object, optional, type Shape } from "../shape/index.ts";
import { bytesBeyond, EVENT_LIMITS } from "./limits.ts";
import { isPath } from "./path.ts";

const ANY = Number.POSITIVE_INFINITY;

/** A string of `min` to `max` UTF-16 units. */
export function text(max: number = ANY, min = 0): Shape<string> {
  return shape.text("text", { min, max });
}

/** Any JSON whose text is at most `maxBytes` long. */
export function json(maxBytes: number = ANY): Shape<Json> {
  return shape.rule((value) => sizeProblem(value, maxBytes));
}

export function jsonObject(maxBytes: number = ANY): Shape<JsonObject> {
  return shape.rule(
    (value) => (isObject(value) ? sizeProblem(value, maxBytes) : "is not an object"),
    "object",
  );
}

function sizeProblem(value: unknown, maxBytes: number): string | undefined {
  const fits = maxBytes === ANY || bytesBeyond(value, maxBytes) === 0;
  return fits ? undefined : `is longer than ${maxBytes} bytes`;
}

function matching(what: string, pattern: RegExp): Shape<string> {
  return shape.text(what, { min: 0, max: ANY, pattern });
}

export const path: Shape<string> = shape.rule(
  (value) => (typeof value === "string" && isPath(value) ? undefined : "is not a legal path"),
  "string",
);
export const count = integer(0);
export const id = matching("a legal id", /^[A-Za-z0-9_-]{1,64}$/);
export const code = matching(
  "a snake_case code of at most 64 characters",
  /^[a-z][a-z0-9_]{0,63}$/,
);
export const digest = matching("sha256: and 64 hex digits", /^sha256:[0-9a-f]{64}$/);
export const message = text(EVENT_LIMITS.message);

/** `ErrorInfo`, for objects that say more. */
export const errorFields = {
  code,
  message,
  retryable: shape.flag,
  status: optional(integer(0)),
  /** Code of the underlying error. */
  cause: optional(code),
};
export const errorInfo = object(errorFields);

/** `ValueRef`; `ref` is empty where the value is not kept. */
export const valueRef = object({
  ref: matching("sha256: and 64 hex digits, or empty", /^(sha256:[0-9a-f]{64})?$/),
  bytes: count,
  mediaType: text(255),
  preview: optional(text(EVENT_LIMITS.preview)),
});

/** The trigger of a run, an open set: new ways to start runs add their own. `startedBy` describes it to people. */
export const trigger = shape.open(
  "cli",
  "api",
  "schedule",
  "webhook",
  "desktop",
  "embed",
  "notify",
  "mcp",
);

export const usage = object({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: optional(count),
  cacheWriteTokens: optional(count),
  reasoningTokens: optional(count),
});

export const summaryUsage = object({
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
});

export const counts = object({
  succeeded: count,
  failed: count,
  skipped: count,
  cancelled: count,
});

export const position = object({ line: integer(1), column: integer(1), offset: count });
export const range = object({ start: position, end: position });

export const fix = object({
  title: text(),
  edits: shape.list(object({ range, newText: text() })),
  uncertain: optional(shape.flag),
});

/** `Diagnostic`. */
export const diagnostic = object({
  code: text(ANY, 1),
  severity: shape.oneOf("error", "warning", "info"),
  message: text(),
  pointer: optional(text()),
  range: optional(range),
  hint: optional(text()),
  related: optional(shape.list(object({ range, message: text() }))),
  fixes: optional(shape.list(fix)),
});

/**
 * The first fault of a value, as the rest of a sentence that begins with its name: `.error.code is not …`; `undefined` when it
 * has its shape. `strict` as in `faultsOf`.
 */
export function partProblem(value: unknown, part: Shape, strict: boolean): string | undefined {
  const fault = faultsOf(value, part, strict)[0];
  if (fault === undefined) return undefined;
  const names = pointerKeys(fault.pointer).map((name) => `.${name}`);
  return `${names.join("")} ${messageOf(fault, strict)}`;
}

function messageOf({ kind, shape: part, message = "" }: Fault, strict: boolean): string {
  switch (kind) {
    case "rule":
      return message;
    case "missing":
      return "is missing";
    case "unknown":
      return "is not a known key";
  }
  switch (part.is) {
    case "list":
      return kind === "size" ? `has more than ${part.max} entries` : "is not a list";
    case "record":
      if (kind === "key") return `has a key of more than ${part.maxKey} units`;
      return kind === "size" ? `has more than ${part.max} entries` : "is not an object";
    case "text":
      if (part.pattern !== undefined) return `is not ${part.what}`;
      return `is not text of ${part.min} to ${part.max} units`;
    case "number":
      return part.isWhole
        ? `is not an integer of at least ${part.min}`
        : `is not a number from ${part.min} to ${part.max}`;
    case "word":
      if (part.isOpen && !strict) return "is not a word";
      if (typeof part.values[0] === "boolean" && part.values.length > 1)
        return "is not true or false";
      return `is not ${part.values.length > 1 ? "one of " : ""}${part.values.join(", ")}`;
    default:
      return "is not an object";
  }
}
