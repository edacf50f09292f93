/** Numbers and names that all servers of one store must agree on. */
import { createHash } from "node:crypto";

/** First halves of the keys of advisory locks: `MILL` and its successors. The second half says what is locked. */
export const MIGRATION_LOCKS = 0x4d494c4c;
export const SERVER_LOCKS = 0x4d494c4d;
export const WORK_LOCKS = 0x4d494c4e;
export const KEY_LOCKS = 0x4d494c4f;

/** A server without a sign of life for so long is dead, and its runs are taken by others. */
export const STALE_MS = 6_000;

/** The channel of a schema: names of channels are shared by the whole database. */
export function channelOf(schema: string): string {
  return `millrace_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`;
}
