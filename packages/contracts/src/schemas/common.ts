/** Small shapes that many commands share. */
import * as z from "zod";
import { jsonProblem } from "../extend/json-data.ts";
import type { Json, JsonObject } from "../json.ts";

/** The type of a record: what its schema answers, read only at every depth. */
export type Infer<S extends z.ZodType> = ReadOnly<z.output<S>>;

/** The type of arguments: what a caller passes. Those with a default may be absent. */
export type InferArgs<S extends z.ZodType> = Given<z.input<S>>;
type Given<T> = { readonly [K in keyof T]: ReadOnly<Exclude<T[K], undefined>> };

/** A type with readonly members, at any depth. */
export type ReadOnly<T> = Json extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly ReadOnly<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadOnly<T[K]> }
      : T;

/** Any JSON value, at most `MAX_JSON_DEPTH` levels deep. It is looked at, not copied. */
export const jsonValueSchema: z.ZodType<Json, Json> = z.unknown().superRefine(json) as z.ZodType<
  Json,
  Json
>;

/** A JSON object of any members. */
export const jsonObjectSchema: z.ZodType<JsonObject, JsonObject> = z
  .record(z.string(), z.unknown())
  .superRefine(json) as z.ZodType<JsonObject, JsonObject>;

type JsonRecord = { readonly [name: string]: Json };

/** Values by name, such as the inputs of a run. */
export const jsonRecordSchema = jsonObjectSchema as z.ZodType<JsonRecord, JsonRecord>;

/** Id of a run; ids of our own making are `run_` and 26 characters of Crockford base32. */
export const runIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 characters of A-Z a-z 0-9 _ -");

/** Receiver of a notice about a failed run: a template that is run, or a URL that gets a webhook. */
export const notifiedSchema = z
  .string()
  .max(2_048)
  .regex(
    /^(?:https?:\/\/[^ ]+|[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)$/,
    "must be the slug of a template, or an http(s) URL",
  );

/** Slug of a template or a connection. */
export const slugSchema = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/,
    "must be a slug such as fx-rates, 1 to 64 characters",
  );

/** Adapter, provider, service slug: the rule of the extension seams. */
export const nameSchema = z
  .string()
  .max(64)
  .regex(
    /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/,
    "must be a name such as acme-crm, 1 to 64 characters",
  );

/** `sha256:` and 64 lower-case hex digits. */
export const digestSchema = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 lower-case hex digits");

/** A moment that we write: ISO 8601 in UTC. */
export const timeSchema = z.iso.datetime();

/** A moment that somebody else writes: ISO 8601 with `Z` or an offset. */
export const zonedTimeSchema = z.iso.datetime({ offset: true });

/** At most 16 pairs, each side at most 128 characters. */
export const tagsSchema = z
  .record(z.string().min(1).max(128), z.string().max(128))
  .refine((tags) => Object.keys(tags).length <= 16, "at most 16 tags");

/** `name: value` pairs of a run, at most 16, each side at most 128 characters. */
export type Tags = Infer<typeof tagsSchema>;

/** One page of `item`. */
export function pageSchema<S extends z.ZodType>(item: S) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .describe("Where the next page begins; null: this was the last one."),
  });
}

/** One page of a list. `nextCursor` null: this was the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

function json(value: unknown, ctx: z.RefinementCtx): void {
  const problem = jsonProblem(value);
  if (problem === undefined) return;
  const path = problem.pointer.split("/").slice(1);
  ctx.addIssue({ code: "custom", path, message: problem.message });
}
