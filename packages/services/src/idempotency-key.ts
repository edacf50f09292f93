/** The idempotency key of a node as a header carries it. */
import type { NodeContext } from "@millrace/contracts";
import { percentEncode } from "@millrace/engine/pack";

/** The key, the same for every attempt; `isWritten`: the flow has written it, so that it is sent wherever it may mean something. */
export function idempotencyKeyOf(ctx: Pick<NodeContext, "runId" | "node" | "idempotencyKey">): {
  readonly text: string;
  readonly isWritten: boolean;
} {
  const byDefault = `${ctx.runId}/${ctx.node.replace(/~\d+(?=\[|\/|$)/g, "")}`;
  const key = ctx.idempotencyKey;
  const text = /^[\x21-\x7e]+$/.test(key) ? key : percentEncode(key);
  return { text, isWritten: key !== byDefault };
}
