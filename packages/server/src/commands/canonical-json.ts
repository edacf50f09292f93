/** One text per JSON value, whatever the order of its keys; and its hash. */
import { createHash } from "node:crypto";
import type { Json } from "@millrace/contracts";
import { canonicalJson } from "@millrace/dsl";

/** SHA-256 of the canonical text, in base64url. */
export function canonicalHash(value: unknown): string {
  return createHash("sha256")
    .update(canonicalJson(value as Json))
    .digest("base64url");
}
