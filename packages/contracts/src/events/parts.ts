/**
 * Parts from which the payloads of all kinds are put together, once, and used twice: as a quick test, which a check of a
 * million events can afford, and as a zod schema, which says what is wrong and describes the service.
 *   The test has the temper of a reader: further keys pass, and further members of lists that may grow. A strict schema has
 *   the temper of a writer: known keys and members only.
 */
import * as z from "zod";
import { bytesBeyond, EVENT_LIMITS } from "./limits.ts";
import { isPath } from "./path.ts";

/** One part. `says` completes "… is not". */
export interface Part {
  readonly says: string;
  readonly isOptional: boolean;
  readonly test: (value: unknown) => boolean;
  readonly schema: (strict: boolean) => z.ZodType;
}

/** Parts by key, in wire order. */
export type Fields = Readonly<Record<string, Part>>;

function part(says: string, test: Part["test"], schema: Part["schema"]): Part {
  return { says, isOptional: false, test, schema };
}

/** The key may be absent. */
export function optional(inner: Part): Part {
  const schema = (strict: boolean): z.ZodType => inner.schema(strict).exactOptional();
  return { ...inner, isOptional: true, schema };
}

export function nullable(inner: Part): Part {
  return part(
    `${inner.says} or null`,
    (value) => value === null || inner.test(value),
    (strict) => inner.schema(strict).nullable(),
  );
}

/** An object with these fields. */
export function object(fields: Fields): Part {
  const entries = Object.entries(fields);
  return part(
    "a legal object",
    (value) => isRecord(value) && problemIn(entries, value) === undefined,
    (strict) => {
      const shape = Object.fromEntries(entries.map(([key, inner]) => [key, inner.schema(strict)]));
      return strict ? z.strictObject(shape) : z.looseObject(shape);
    },
  );
}

/** The first field that is not what it should be, as a sentence. */
export function problemIn(
  entries: readonly (readonly [string, Part])[],
  record: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const [key, field] of entries) {
    const value = record[key];
    if (value === undefined ? !field.isOptional : !field.test(value)) {
      return `${key} is not ${field.says}`;
    }
  }
  return undefined;
}

export function list(inner: Part, max: number = Number.POSITIVE_INFINITY): Part {
  return part(
    `a legal list${max === Number.POSITIVE_INFINITY ? "" : ` of at most ${max}`}`,
    (value) => Array.isArray(value) && value.length <= max && value.every(inner.test),
    (strict) => {
      const schema = z.array(inner.schema(strict));
      return max === Number.POSITIVE_INFINITY ? schema : schema.max(max);
    },
  );
}

/** A record of at most `max` entries. */
export function record(inner: Part, max: number = Number.POSITIVE_INFINITY): Part {
  const fits = (value: object): boolean => Object.keys(value).length <= max;
  return part(
    "a legal record",
    (value) => isRecord(value) && fits(value) && Object.values(value).every(inner.test),
    (strict) =>
      z.record(z.string(), inner.schema(strict)).refine(fits, `has more than ${max} entries`),
  );
}

/** A string of at most `max` UTF-16 units. */
export function text(max: number = Number.POSITIVE_INFINITY, min = 0): Part {
  const says = max === Number.POSITIVE_INFINITY ? "text" : `text of at most ${max} units`;
  return part(
    says,
    (value) => typeof value === "string" && value.length <= max && value.length >= min,
    () => {
      const schema = z.string().min(min);
      return max === Number.POSITIVE_INFINITY ? schema : schema.max(max);
    },
  );
}

function pattern(says: string, expression: RegExp): Part {
  return part(
    says,
    (value) => typeof value === "string" && expression.test(value),
    () => z.string().regex(expression, `is not ${says}`),
  );
}

/** One of a list that is closed for ever. */
export function oneOf(...members: [string, ...string[]]): Part {
  return part(
    `one of ${members.join(", ")}`,
    (value) => typeof value === "string" && members.includes(value),
    () => z.enum(members),
  );
}

/** One of a list that may grow: a reader takes any short text. */
export function open(...members: [string, ...string[]]): Part {
  const any = text(EVENT_LIMITS.id, 1);
  return part(any.says, any.test, (strict) => (strict ? z.enum(members) : any.schema(false)));
}

export function literal(constant: string | number | true): Part {
  return part(
    String(constant),
    (value) => value === constant,
    () => z.literal(constant),
  );
}

/** Any JSON whose text is at most `maxBytes` long. */
export function valueWithin(maxBytes: number): Part {
  const fits = (value: unknown): boolean => bytesBeyond(value, maxBytes) === 0;
  const says = `JSON of at most ${maxBytes} bytes`;
  return part(says, fits, () => z.unknown().refine(fits, `is not ${says}`));
}

/** A JSON object whose text is at most `maxBytes` long. */
export function objectWithin(maxBytes: number): Part {
  const fits = (value: unknown): boolean => bytesBeyond(value, maxBytes) === 0;
  const says = `a JSON object of at most ${maxBytes} bytes`;
  return part(
    says,
    (value) => isRecord(value) && fits(value),
    () => z.record(z.string(), z.unknown()).refine(fits, `is not ${says}`),
  );
}

/** An integer of at least `min`. */
export function integer(min: number): Part {
  return part(
    `an integer of at least ${min}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min,
    () => z.int().min(min),
  );
}

/** A number of at least 0, at most `max`. */
export function amount(max: number = Number.MAX_VALUE): Part {
  return part(
    "a legal number",
    (value) => typeof value === "number" && value >= 0 && value <= max,
    () => z.number().min(0).max(max),
  );
}

export const anyJson: Part = part(
  "JSON",
  () => true,
  () => z.unknown(),
);
export const flag: Part = part(
  "true or false",
  (value) => typeof value === "boolean",
  () => z.boolean(),
);
export const count: Part = integer(0);
export const id: Part = pattern("a legal id", /^[A-Za-z0-9_-]{1,64}$/);
export const code: Part = pattern(
  "a snake_case code of at most 64 characters",
  /^[a-z][a-z0-9_]{0,63}$/,
);
export const digest: Part = pattern("sha256: and 64 hex digits", /^sha256:[0-9a-f]{64}$/);
export const path: Part = part(
  "a legal path",
  (value) => typeof value === "string" && isPath(value),
  () => z.string().refine(isPath, "is not a legal path"),
);
export const message: Part = text(EVENT_LIMITS.message);

/** `ErrorInfo` as fields, for objects that say more. */
export const errorFields: Fields = {
  code,
  message,
  retryable: flag,
  status: optional(part("an integer", Number.isSafeInteger, () => z.int())),
  cause: optional(code),
};
export const errorInfo: Part = object(errorFields);

/** `ValueRef`; `ref` is empty where the value is not kept. */
export const valueRef: Part = object({
  ref: pattern("sha256: and 64 hex digits", /^(sha256:[0-9a-f]{64})?$/),
  bytes: count,
  mediaType: text(255),
  preview: optional(text(EVENT_LIMITS.preview)),
});

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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
