/** One text per JSON value, whatever the order of its keys; and what is derived from it. */
import { createHash } from "node:crypto";
import type { Json } from "@millrace/contracts";
import { canonicalJson } from "@millrace/dsl";

/** SHA-256 of the canonical text, in base64url. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256")
    .update(canonicalJson(value as Json))
    .digest("base64url");
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
