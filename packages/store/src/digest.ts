/** Identity of a JSON value: SHA-256 of its text with sorted keys (RFC 8785), as the engine computes it for its references. */
import { createHash } from "node:crypto";
import type { Json, JsonObject } from "@millrace/contracts";

/** `sha256:` and 64 hex digits. Members that are undefined count as absent. */
export function digestOf(value: Json): string {
  return `sha256:${createHash("sha256").update(canonical(value)).digest("hex")}`;
}

function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value === 0 ? 0 : value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  const members = Object.entries(value as JsonObject)
    .filter((member): member is [string, Json] => member[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}
