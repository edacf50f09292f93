/**
 * Shapes that several kinds share, in two tempers. `strict`, for writers and tests: known keys and known list members only.
 * Otherwise what readers owe a newer writer: further keys, and further members of the lists that the events page calls open.
 */
import * as z from "zod";
import { bytesBeyond, EVENT_LIMITS } from "./limits.ts";
import { isPath } from "./path.ts";

/** Builds the shapes of one temper. */
export interface Parts {
  readonly strict: boolean;
  object(shape: z.ZodRawShape): z.ZodType;
  /** A member of a list that may grow. */
  open(...members: [string, ...string[]]): z.ZodType;
}

export function partsOf(strict: boolean): Parts {
  return {
    strict,
    object: (shape) => (strict ? z.strictObject(shape) : z.looseObject(shape)),
    open: (...members) => (strict ? z.enum(members) : z.string().max(EVENT_LIMITS.id)),
  };
}

export const count: z.ZodInt = z.int().min(0);
export const duration: z.ZodNumber = z.number().min(0);
export const id: z.ZodString = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "is not a legal id");
export const code: z.ZodString = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, "is not a snake_case code of at most 64 characters");
export const digest: z.ZodString = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "is not sha256: and 64 hex digits");
export const path: z.ZodString = z.string().refine(isPath, "is not a legal path");
export const text: z.ZodString = z.string();
export const message: z.ZodString = z.string().max(EVENT_LIMITS.message);

/** Any JSON whose text is at most `maxBytes` long. */
export function valueWithin(maxBytes: number): z.ZodType {
  return z
    .unknown()
    .refine((value) => bytesBeyond(value, maxBytes) === 0, `is longer than ${maxBytes} bytes`);
}

/** A JSON object, at most `maxBytes` long. */
export function objectWithin(maxBytes: number): z.ZodType {
  return z
    .record(z.string(), z.unknown())
    .refine((value) => bytesBeyond(value, maxBytes) === 0, `is longer than ${maxBytes} bytes`);
}

export function errorShape(): z.ZodRawShape {
  return {
    code,
    message,
    retryable: z.boolean(),
    status: z.int().exactOptional(),
    cause: code.exactOptional(),
  };
}

/** `ref` is empty where the value is not kept. */
export function valueRef(p: Parts): z.ZodType {
  return p.object({
    ref: z.string().regex(/^(sha256:[0-9a-f]{64})?$/, "is not sha256: and 64 hex digits"),
    bytes: count,
    mediaType: z.string().max(255),
    preview: z.string().max(EVENT_LIMITS.preview).exactOptional(),
  });
}

export function usage(p: Parts): z.ZodType {
  return p.object({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count.exactOptional(),
    cacheWriteTokens: count.exactOptional(),
    reasoningTokens: count.exactOptional(),
  });
}

export function summaryUsage(p: Parts): z.ZodType {
  return p.object({
    calls: count,
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    cacheWriteTokens: count,
    reasoningTokens: count,
  });
}

export function counts(p: Parts): z.ZodType {
  return p.object({ succeeded: count, failed: count, skipped: count, cancelled: count });
}
