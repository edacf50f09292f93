/** Builds the request to a server of models and interprets its answer for the existing part. Nothing is sent or written here. */
import type { ResponseLike } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import type { Validators } from "./part-file.ts";

const MAX_RETRY_AFTER_MS = 60_000; // a longer pause needs a new attempt by a person

export interface Have extends Validators {
  readonly bytes: number;
}

/** Consequence of an HTTP answer. `again`: ask once more for the whole; `total` 0: unknown. */
export type Verdict =
  | { readonly act: "append" | "replace"; readonly validators: Validators }
  | { readonly act: "complete" }
  | { readonly act: "again"; readonly because: "changed" | "range" };

/** The transfer broke off, or could not begin; it may go on later. */
export class Interrupted extends Error {
  /** Pause that the server asks for, in milliseconds; null: none. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Validator of a file for `If-Range` (RFC 9110, 13.1.5): a strong ETag, else the date; null: none. */
function validatorOf({ etag, lastModified }: Validators): string | null {
  return etag !== null && !etag.startsWith("W/") ? etag : lastModified;
}

/** The headers of a request. Bytes of a coding could not be continued, so none is asked for. */
export function requestHeaders(have: Have, bearer: string | null): { [name: string]: string } {
  const validator = validatorOf(have);
  const range =
    have.bytes > 0 && validator !== null
      ? { range: `bytes=${have.bytes}-`, "if-range": validator }
      : {};
  const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  return { "accept-encoding": "identity", ...range, ...authorization };
}

/** Reads the head of an answer. Throws `ModelError` for permanent failures, `Interrupted` for temporary ones. */
export function readAnswer(
  { status, headers }: Pick<ResponseLike, "status" | "headers">,
  have: Have,
  { ranged, now }: { readonly ranged: boolean; readonly now: number },
): Verdict {
  const coding = headers.get("content-encoding");
  if (status < 300 && coding !== null && coding !== "identity") {
    throw new ModelError("download_failed", `the server sends the file in the coding ${coding}`);
  }
  const etag = headers.get("etag");
  const described = { etag, lastModified: headers.get("last-modified") };
  if (status === 200) {
    const total = lengthOf(headers.get("content-length"));
    return { act: "replace", validators: { ...described, total } };
  }
  if (status === 206) {
    if (!ranged) throw new ModelError("download_failed", "the server sends a part of the file");
    const [, from, total] =
      /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "") ?? [];
    const known = total === "*" ? have.total : lengthOf(total ?? null);
    const isLonger = have.total > 0 && known !== have.total;
    if (Number(from) !== have.bytes || isOther(have, described) || isLonger)
      return { act: "again", because: "changed" };
    return {
      act: "append",
      validators: { etag: etag ?? have.etag, lastModified: have.lastModified, total: known },
    };
  }
  if (status === 416 && ranged) {
    if (isOther(have, described)) return { act: "again", because: "changed" };
    // Some servers do not say how long the file is; then it is as long as they said before.
    const [, told] = /^bytes \*\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
    const total = told === undefined ? have.total : lengthOf(told);
    return total === have.bytes ? { act: "complete" } : { act: "again", because: "range" };
  }
  throw refusalOf(status, headers.get("retry-after"), now);
}

/** A server that knows no If-Range answers for another file; where no ETag tells so, the date does. */
function isOther(have: Have, answer: Pick<Validators, "etag" | "lastModified">): boolean {
  const by = have.etag !== null && answer.etag !== null ? "etag" : "lastModified";
  return have[by] !== null && answer[by] !== null && answer[by] !== have[by];
}

function refusalOf(status: number, retryAfter: string | null, now: number): Error {
  if (status === 429 || status >= 500) {
    return new Interrupted(`the server answers ${status}`, {
      retryAfterMs: waitOf(retryAfter, now),
    });
  }
  if (status === 401 || status === 403) {
    return new ModelError("download_denied", `the server refuses the file (${status})`);
  }
  if (status === 404 || status === 410) {
    return new ModelError("download_not_found", `the server does not have the file (${status})`);
  }
  return new ModelError("download_failed", `the server answers ${status}`);
}

function lengthOf(text: string | null): number {
  const length = text !== null && /^\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(length) ? length : 0;
}

/** `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). */
function waitOf(text: string | null, now: number): number | null {
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms)) : null;
}
