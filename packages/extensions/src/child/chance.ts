/** Chance of one attempt: it follows from run, node, attempt and key, so that it is the same wherever and however often the body runs. */
import type { ControlContext } from "@millrace/contracts";

/**
 * What `randomFrom` begins with for an attempt, in [0, 1). The id of a run is a matter of chance itself; calls of tools by one `ai` node
 * differ in the key alone.
 */
export function seedOf({ runId, node, attempt, idempotencyKey }: ControlContext): number {
  let hash = 0x811c9dc5; // FNV-1a, then the last steps of MurmurHash3, which let every bit count
  for (const unit of `${runId}/${node}~${attempt} ${idempotencyKey}`) {
    hash = Math.imul(hash ^ (unit.codePointAt(0) as number), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = Math.floor(seed * 4_294_967_296) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
