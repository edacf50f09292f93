/** One text per JSON value, whatever the order of its keys; and what is derived from it. */
import { createHash } from "node:crypto";

/** JSON with sorted keys. `value` must be JSON; keys whose value is undefined are left out. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    const record = inner as Record<string, unknown>;
    return Object.fromEntries(
      Object.keys(record)
        .sort()
        .map((key) => [key, record[key]]),
    );
  });
}

/** SHA-256 of the canonical text, in base64url. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64url");
}

/** Characters of a hash that make an entity tag: 132 bits, far beyond chance. */
const ETAG_LENGTH = 22;

/** A strong entity tag of a value, quotes included. */
export function etagOf(value: unknown): string {
  return `"${canonicalHash(value).slice(0, ETAG_LENGTH)}"`;
}

/** Whether an `If-None-Match` header names `etag`, or everything. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((tag) => tag.trim() === etag);
}
