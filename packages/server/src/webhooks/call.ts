/** The body and query of a webhook call as JSON. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Json } from "@millrace/contracts";
import { invalidArg, ProblemError } from "../errors.ts";
import { parseJson } from "../http/index.ts";

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
export function readForm(text: string): { readonly [name: string]: string | readonly string[] } {
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

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ProblemError("unsupported_media_type", { detail: "The body is not UTF-8" });
  }
}

/** How far the clocks of caller and server may be apart, and how long a call may be on its way. */
const WINDOW_S = 300;
/** A signature is valid from `WINDOW_S` before its time through `WINDOW_S` after it: it is remembered longer than that. */
const REMEMBERED_MS = 2 * WINDOW_S * 1_000 + 1;

const HEADER = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

/** One signed call. */
export interface SignedCall {
  /** Value of the header; undefined: it is absent. */
  readonly header: string | undefined;
  readonly body: Uint8Array;
  readonly webhookId: string;
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What must be remembered of a valid signature, so that it counts once; undefined: it is missing, old or wrong. */
export function checkSignature(
  call: SignedCall,
): { readonly hash: string; readonly ttlMs: number } | undefined {
  const [, time = "", given = ""] = HEADER.exec(call.header ?? "") ?? [];
  if (given === "") return undefined;
  const expected = createHmac("sha256", call.secret).update(`${time}.`).update(call.body).digest();
  const isRight = timingSafeEqual(expected, Buffer.from(given, "hex"));
  const isFresh = Math.abs(call.now / 1_000 - Number(time)) <= WINDOW_S;
  if (!isRight || !isFresh) return undefined;
  const hash = createHash("sha256").update(`${call.webhookId}\n${given}`).digest("hex");
  return { hash, ttlMs: REMEMBERED_MS };
}
