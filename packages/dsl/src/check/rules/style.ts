/** Style, only on request (FLOW9001-9005). */

import { listOrNone, own } from "../../data.ts";
import { replacing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import { nameText } from "../../syntax/print-expression.ts";
import { formatFlow } from "../../write/print-flow.ts";
import type { Validation } from "../validation.ts";
import type { BodyOrder } from "./order.ts";

/** Types that wait for others, so that a limit of time reads well. */
const WAITING: ReadonlySet<string> = new Set(["http.request", "loop"]);

/** Checks style. */
export function checkStyle(ctx: Validation, orders: readonly BodyOrder[]): void {
  if (listOrNone(own(ctx.graph, "nodes")).length === 0) ctx.report("FLOW9001", "");
  const { source } = ctx.map;
  if (source !== undefined) checkCanonical(ctx, source);
  for (const order of orders) checkEdges(ctx, order);
  for (const node of ctx.model.nodes) {
    const { id, pointer } = node;
    const { type, policy } = node.node;
    if (id !== "" && nameText(id) !== id) {
      ctx.report("FLOW9004", `${pointer}/id`, { parts: { id: shown(id) } });
    }
    if (WAITING.has(type) && own(policy, "timeoutMs") === undefined) {
      ctx.report("FLOW9005", `${pointer}/id`, { parts: { type } });
    }
  }
}

function checkCanonical(ctx: Validation, source: string): void {
  const { text, changed } = formatFlow(source);
  if (!changed) return;
  const span = { start: 0, end: source.length };
  ctx.report("FLOW9002", "", { fix: replacing("format it", span, text) });
}

/** Edges from `out` to a node that reads the same node and has no other edge. */
function checkEdges(ctx: Validation, order: BodyOrder): void {
  const { body } = order;
  const incoming = new Int32Array(body.nodes.length);
  const outgoing = new Int32Array(body.nodes.length);
  for (const { from, to } of body.edges) {
    if (to !== undefined) incoming[to.index] = (incoming[to.index] ?? 0) + 1;
    if (from !== undefined) outgoing[from.index] = (outgoing[from.index] ?? 0) + 1;
  }
  const implied = new Set<string>();
  order.from.forEach((from, wait) => {
    if (order.isImplied(wait)) implied.add(`${from} ${order.to[wait]}`);
  });
  for (const { from, to, port, pointer } of body.edges) {
    if (from === undefined || to === undefined || port !== "out") continue;
    if (incoming[to.index] !== 1 || outgoing[from.index] !== 1) continue;
    if (implied.has(`${from.index} ${to.index}`)) ctx.report("FLOW9003", pointer);
  }
}
