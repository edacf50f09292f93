/** Joining adjacent deltas for a reader that falls behind. The journal is never merged. */
import { EVENT_LIMITS } from "./limits.ts";
import type { LlmDelta } from "./types.ts";

/**
 * One delta that stands for `a` and the directly following `b`: offset of the first, `seq` and `ts` of the last, `merged`
 * the number of events it stands for. `null` when they are not neighbours of one call and channel, or too long together.
 */
export function mergeDeltas(a: LlmDelta, b: LlmDelta): LlmDelta | null {
  const stands = b.merged ?? 1;
  const joinable =
    b.seq - stands === a.seq &&
    b.call === a.call &&
    b.channel === a.channel &&
    b.node === a.node &&
    b.attempt === a.attempt &&
    b.runId === a.runId &&
    b.offset === a.offset + a.text.length &&
    a.text.length + b.text.length <= EVENT_LIMITS.deltaText;
  if (!joinable) return null;
  return {
    v: 1,
    kind: "llm.delta",
    runId: a.runId,
    seq: b.seq,
    ts: b.ts,
    node: a.node,
    attempt: a.attempt,
    call: a.call,
    channel: a.channel,
    offset: a.offset,
    text: a.text + b.text,
    merged: (a.merged ?? 1) + stands,
  };
}
