/** A command: one name behind REST, the invoke bridge, the command line and the client. */
import type * as z from "zod";
import type { ErrorCode } from "./problem.ts";

/** Who may call: `read` reads, `run` starts and steers runs, `write` and `admin` change the server. */
export type CommandEffect = "read" | "run" | "write" | "admin";

/** The REST route of a command. */
export interface HttpBinding {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Holes are `:name` of an argument. */
  readonly path: `/api/${string}`;
  readonly status: 200 | 201 | 202 | 204;
  /** Other statuses of success: 201 for a resource that is new, 202 for work that goes on. */
  readonly alsoStatus?: readonly (200 | 201 | 202)[];
  /** Which arguments the JSON body is; those of path, query and headers are the others. Default `none`. */
  readonly body?: "rest" | { readonly arg: string } | "none";
  /** Header name to argument: `{ "if-match": "ifMatch" }`. */
  readonly headers?: { readonly [header: string]: string };
  /** Tells two commands of one method and path apart by the presence of a query key. */
  readonly when?: { readonly query: string };
  /** Media type of an answer that is not JSON. */
  readonly media?: "text/event-stream" | "application/octet-stream";
}

/** Kind of stream of a command. `resume`: a reader may continue from a position. `only`: the stream is the only answer. */
export interface CommandStream {
  readonly item: z.ZodType;
  readonly resume: boolean;
  readonly only?: true;
}

/** A command as data; its handler lives elsewhere. */
export interface CommandDef<
  N extends string = string,
  A extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  /** snake_case, verb first. */
  readonly name: N;
  readonly summary: string;
  /** A strict object. */
  readonly args: A;
  /** `z.null()` for a command without an answer. */
  readonly result: R;
  readonly effect: CommandEffect;
  /** `key`: takes `Idempotency-Key`. `natural`: the same call twice leaves the same state. */
  readonly idempotency: "none" | "key" | "natural";
  /** Besides those of the gate. */
  readonly errors: readonly ErrorCode[];
  readonly http?: HttpBinding;
  readonly stream?: CommandStream;
}

/**
 * Makes a command definition: the same members, frozen. Throws `RangeError` for a name that is not snake_case, for a
 * body on GET, and for a path whose holes are not `:name`.
 */
export function defineCommand<const N extends string, A extends z.ZodType, R extends z.ZodType>(
  def: CommandDef<N, A, R>,
): CommandDef<N, A, R> {
  const { name, http } = def;
  if (!/^[a-z]+(?:_[a-z0-9]+)+$/.test(name)) {
    throw new RangeError(`command "${name}": a name is verb_noun in snake_case`);
  }
  if (http !== undefined) {
    if (!/^\/api(?:\/(?::[A-Za-z]+|[a-z]+))+$/.test(http.path)) {
      throw new RangeError(
        `command "${name}": path "${http.path}" holds words and :name holes only`,
      );
    }
    if (http.method === "GET" && (http.body ?? "none") !== "none") {
      throw new RangeError(`command "${name}": GET has no body`);
    }
  }
  return Object.freeze({ ...def });
}
