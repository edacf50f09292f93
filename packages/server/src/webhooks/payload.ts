/** Payload of a call of a webhook: query, headers, body by its media type. */
import type { Json } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { invalidArg, ProblemError } from "../errors.ts";
import { parseJson } from "../http/index.ts";
import type { Place, SignedCall } from "./schemes.ts";

/** A call, however it came. */
export interface HookCall extends SignedCall {
  readonly requestId: string;
  readonly method: string;
  /** Without its question mark. */
  readonly query: string;
  readonly traceparent: string | undefined;
  /** Aborted when nobody waits for the answer any longer. */
  readonly signal: AbortSignal;
}

const TYPE = /^([a-z]+\/[a-z0-9.+-]+)\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** Reads a body by its media type; null for an empty one without type. Throws `unsupported_media_type` and what JSON throws. */
export function readPayload(type: string | undefined, bytes: Uint8Array): Json {
  if (type === undefined && bytes.byteLength === 0) return null;
  switch (TYPE.exec(type ?? "")?.[1]?.toLowerCase()) {
    case "application/json":
      return parseJson(bytes) as Json;
    case "application/x-www-form-urlencoded":
      return readForm(decode(bytes));
    case "text/plain":
      return decode(bytes);
    default:
      throw new ProblemError("unsupported_media_type", {
        detail: "Send application/json, application/x-www-form-urlencoded or text/plain in UTF-8",
      });
  }
}

/** Pairs of a form or a query by name; a name that comes more than once has a list. */
export function readForm(text: string): { readonly [name: string]: string | string[] } {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  if (fields.has("__proto__")) {
    throw invalidArg("/__proto__", "the key __proto__ is not allowed", "key_refused");
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length > 1 ? values : (values[0] ?? "")]),
  );
}

/** The text at a place of a call; undefined: there is none. `body` is null where it was not read. */
export function textAt(place: Place, call: HookCall, body: Json): string | undefined {
  if ("header" in place) return call.header(place.header);
  const members = "query" in place ? readForm(call.query) : body;
  const name = "query" in place ? place.query : place.member;
  const value = isObject(members) && Object.hasOwn(members, name) ? members[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ProblemError("unsupported_media_type", { detail: "The body is not UTF-8" });
  }
}
