/** Shared parts of the command table: rows, routes, and arguments that many commands have. */
import * as z from "zod";
import type { InferArgs } from "../schemas/common.ts";
import { type CommandDef, defineCommand, type HttpBinding } from "./define.ts";
import type { ErrorCode } from "./problem.ts";

interface Reading extends HttpBinding {
  readonly method: "GET";
}

interface Changing extends HttpBinding {
  readonly method: Exclude<HttpBinding["method"], "GET">;
}

/**
 * A row of the table. GET reads. A command that reads has no idempotency, any other is `natural` unless it says `key`. `errors` are
 * those that the row does not tell by itself: not the ones of an idempotency key, of `If-Match`, of a page of a list, and of what
 * the path names. (PUT may make that, so it says so where it does not.) Default none.
 */
type Row = Omit<CommandDef, "name" | "idempotency" | "errors" | "effect" | "http"> &
  Partial<Pick<CommandDef, "idempotency" | "errors">> &
  (
    | { readonly http: Reading; readonly effect?: never }
    | { readonly http: Changing; readonly effect: CommandDef["effect"] }
  );

/** Makes the definitions of an area; the key of each is its name. */
export function commandTable<T extends { readonly [name: string]: Row }>(
  rows: T,
): { readonly [N in keyof T & string]: CommandDef<N, T[N]["args"], T[N]["result"]> } {
  const entries = Object.entries(rows).map(([name, row]) => {
    const { effect = "read", http, errors = [] } = row;
    const { idempotency = effect === "read" ? "none" : "natural" } = row;
    const implied: readonly ErrorCode[] = [
      ...(idempotency === "key" ? KEY_ERRORS : []),
      ...(http.headers?.["if-match"] === undefined ? [] : CHANGE_ERRORS),
      ...(http.path.includes(":") && http.method !== "PUT" ? NAMED_ERRORS : []),
      ...(row.args instanceof z.ZodObject && "cursor" in row.args.shape ? PAGE_ERRORS : []),
    ];
    const all = [...implied.filter((code) => !errors.includes(code)), ...errors];
    return [name, defineCommand({ ...row, name, effect, idempotency, errors: all })];
  });
  return Object.freeze(Object.fromEntries(entries));
}

type Path = HttpBinding["path"];
type More = Omit<HttpBinding, "method" | "path" | "status">;

/** A binding of a command that reads: GET, answers 200. */
export const get = (path: Path, more: More = {}): Reading => ({
  method: "GET",
  path,
  status: 200,
  ...more,
});

/** A binding of a command that does something: POST, its arguments outside of the path are the body. */
export const post = (path: Path, status: HttpBinding["status"], more: More = {}): Changing => ({
  method: "POST",
  path,
  status,
  body: "rest",
  ...more,
});

/** A binding of a command that replaces something or changes a part of it: answers 200, the body is as that of POST. */
export const change = (method: "PUT" | "PATCH", path: Path, more: More = {}): Changing => ({
  method,
  path,
  status: 200,
  body: "rest",
  ...more,
});

/** Deletes answer 204. */
export const remove = (path: Path, more: More = {}): Changing => ({
  method: "DELETE",
  path,
  status: 204,
  ...more,
});

/** Arguments of every list. @see the server page, "Pages, ETags, idempotency" */
export const pageArgs = {
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().min(1).max(4_096).describe("As the page before gave it.").exactOptional(),
};

/** Which page of a list. */
export type PageArgs = InferArgs<z.ZodObject<typeof pageArgs>>;

/** Argument and header of a change to something that has an entity tag. */
export const ifMatch = z.string().min(1).max(128).exactOptional();
/** Binding of `ifMatch` to the header `If-Match`. @see RFC 9110, section 13.1.1 */
export const ifMatchHeader = {
  headers: { "if-match": "ifMatch" },
};

/** Codes of a change that needs `ifMatch`. */
export const CHANGE_ERRORS = ["etag_mismatch", "precondition_required"] as const;
/** Codes of a command that takes an idempotency key. */
const KEY_ERRORS = [
  "bad_idempotency_key",
  "idempotency_in_flight",
  "idempotency_mismatch",
] as const;

/** The code of a command on something that it names. */
const NAMED_ERRORS = ["not_found"] as const;
/** The code of a page of a list. */
const PAGE_ERRORS = ["bad_cursor"] as const;

/** Arguments of a command that takes none. */
export const none = z.strictObject({});
/** Result of a command that answers nothing. */
export const nothing = z.null();
