/** What the areas of the command table share: the typed table itself, routes, and arguments of many commands. */
import * as z from "zod";
import { type CommandDef, defineCommand, type HttpBinding } from "./define.ts";

type AnyType = { readonly args: unknown; readonly result: unknown; readonly defaults: unknown };

/** Definitions of an area, each checked against the types of its arguments and its answer. */
export type CommandTable<T extends { [N in keyof T]: AnyType }> = {
  readonly [N in keyof T & string]: CommandDef<
    N,
    z.ZodType<Parsed<T[N]>>,
    z.ZodType<T[N]["result"]>
  >;
};

type Parsed<C extends AnyType> = [C["defaults"]] extends [never]
  ? C["args"]
  : C["args"] & Required<Pick<C["args"], C["defaults"] & keyof C["args"]>>;

/** Makes the definitions of an area; the key of each is its name. */
export function commandTable<T extends { [N in keyof T]: AnyType }>(
  rows: {
    readonly [N in keyof T & string]: Omit<CommandTable<T>[N], "name">;
  },
): CommandTable<T> {
  const entries = Object.entries<Omit<CommandDef, "name">>(rows);
  return Object.freeze(
    Object.fromEntries(entries.map(([name, row]) => [name, defineCommand({ name, ...row })])),
  ) as CommandTable<T>;
}

type Path = HttpBinding["path"];
type More = Omit<HttpBinding, "method" | "path" | "status">;

export const get = (path: Path, more: More = {}): HttpBinding => ({
  method: "GET",
  path,
  status: 200,
  ...more,
});

export const post = (path: Path, status: HttpBinding["status"], more: More = {}): HttpBinding => ({
  method: "POST",
  path,
  status,
  body: "rest",
  ...more,
});

/** Deletes answer 204. */
export const remove = (path: Path, more: More = {}): HttpBinding => ({
  method: "DELETE",
  path,
  status: 204,
  ...more,
});

/** Arguments of every list. @see the server page, "Pages, ETags, idempotency" */
export const pageArgs: {
  readonly limit: z.ZodDefault<z.ZodInt>;
  readonly cursor: z.ZodExactOptional<z.ZodString>;
} = {
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().min(1).max(4_096).exactOptional(),
};

/** Argument and header of a change to something that has an entity tag. */
export const ifMatch: z.ZodExactOptional<z.ZodString> = z.string().min(1).max(128).exactOptional();
export const ifMatchHeader: { readonly headers: { readonly "if-match": "ifMatch" } } = {
  headers: { "if-match": "ifMatch" },
};

/** Codes of a change that needs `ifMatch`. */
export const CHANGE_ERRORS = ["etag_mismatch", "precondition_required"] as const;
/** Codes of a command that takes an idempotency key. */
export const KEY_ERRORS = [
  "bad_idempotency_key",
  "idempotency_in_flight",
  "idempotency_mismatch",
] as const;

export const none: z.ZodObject<Record<never, never>, z.core.$strict> = z.strictObject({});
export const nothing: z.ZodNull = z.null();
