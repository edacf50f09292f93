/**
 * Entity tags and the conditions of requests that rest on them.
 *   E1  A tag is strong and says what a resource is, not when: timestamps do not count.
 *   E2  An existing resource is changed or deleted only by a caller that knows its current version, or sends `*`.
 * @see the server page, "Pages, ETags, idempotency"
 */
import { createHash } from "node:crypto";
import type { Json } from "@millrace/contracts";
import { canonicalJson, isObject } from "@millrace/contracts/kit";
import { ProblemError } from "../errors.ts";
import type { HeaderRecord } from "../http/index.ts";
import { Answer } from "./dispatch.ts";

/** Characters of a hash that make an entity tag: 132 bits, far beyond chance. */
const ETAG_LENGTH = 22;
/** Members of our records that say when something happened; those of the same name further down are content. */
const TIMESTAMPS: ReadonlySet<string> = new Set([
  "createdAt",
  "updatedAt",
  "syncedAt",
  "nextAt",
  "lastFire",
]);

/** Preconditions of a request on the current state, as arguments of a command. */
export interface Conditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** A strong entity tag of a value, quotes included. */
export function etagOf(value: unknown): string {
  return `"${canonicalHash(timeless(value)).slice(0, ETAG_LENGTH)}"`;
}

/** The answer that shows a resource: with its tag. */
export function tagged<T extends object>(
  resource: T,
  options: {
    readonly status?: number;
    readonly headers?: HeaderRecord;
  } = {},
): Answer<T> {
  return new Answer(resource, {
    ...options,
    headers: { ...options.headers, ETag: etagOf(resource) },
  });
}

/** The same for an answer that shows one. */
export async function withTag<T extends object>(answer: Promise<Answer<T>>): Promise<Answer<T>> {
  const { value, headers } = await answer;
  return tagged(value, { headers });
}

/**
 * Checks that a change may be made to `current`; null: there is none yet. Throws `precondition_required` for a change of what
 * exists without `ifMatch`, `etag_mismatch` when `ifMatch` names another state or `ifNoneMatch` names this one, as `*` does.
 */
export function checkConditions(
  current: object | null,
  { ifMatch, ifNoneMatch }: Conditions,
): void {
  if (current === null) {
    if (ifMatch !== undefined)
      throw new ProblemError("etag_mismatch", { detail: "It does not exist" });
    return;
  }
  const etag = etagOf(current);
  if (matchesEtag(ifNoneMatch, etag)) {
    throw new ProblemError("etag_mismatch", { detail: "It exists already" });
  }
  if (ifMatch === undefined) {
    throw new ProblemError("precondition_required", {
      detail: "Send If-Match with the ETag of what you have seen, or *",
    });
  }
  if (!matchesEtag(ifMatch, etag)) throw new ProblemError("etag_mismatch");
}

function timeless(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !TIMESTAMPS.has(name)));
}

/** SHA-256 of the canonical text, in base64url. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256")
    .update(canonicalJson(value as Json))
    .digest("base64url");
}

const turns = new WeakMap<object, Promise<unknown>>();

/** Does `work` when all that was asked before for the same `what`, such as a table, is done, whatever came of it. */
export function inTurn<T>(what: object, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(what) ?? Promise.resolve()).then(work);
  turns.set(
    what,
    mine.catch(() => {}),
  );
  return mine;
}

/** True when an `If-Match` or `If-None-Match` header names `etag`, or is `*`. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim() === etag);
}

/** True when a GET of something with `etag` need not be answered again: proxies that compress make tags weak. @see RFC 9110, section 13.1.2 */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  return matchesEtag(ifNoneMatch?.replace(/(^|,)\s*W\//g, "$1"), etag);
}
