/**
 * A log without what differs from one run to the next: ids, times, `seq`, who called a model first, the moments of progress
 * and of waiting for a turn. Run-level events come first, then the nodes in graph order, each one's events in their own order.
 */

import type { ExecutionEvent, FlowGraph } from "@millrace/contracts";

const TIMES = new Set(["durationMs", "firstTokenMs", "until", "deadline"]);
/** Whether these appear depends on timing alone. */
const BY_TIMING = new Set(["node.progress"]);

/** The normal form of a log as NDJSON text. The folder `root`, where a run had its files, becomes `$ROOT`. */
export function golden(log: readonly ExecutionEvent[], graph: FlowGraph, root?: string): string {
  const order = new Map(graph.nodes.map(({ id }, i) => [id, i]));
  const groups = new Map<string, string[]>();
  for (const event of joined(log)) {
    if (BY_TIMING.has(event.kind) || isTurn(event, log)) continue;
    const node = "node" in event ? (event.node ?? "") : "";
    const lines = groups.get(node) ?? [];
    const line = JSON.stringify(normal(event));
    lines.push(root === undefined ? line : line.replaceAll(root, "$ROOT"));
    groups.set(node, lines);
  }
  const rank = (node: string) =>
    node === "" ? -1 : (order.get(node.replace(/[[~/].*$/s, "")) ?? order.size);
  const text = [...groups]
    .sort(([a], [b]) => rank(a) - rank(b) || compare(a, b))
    .flatMap(([, lines]) => lines)
    .map((line) => `${line}\n`)
    .join("");
  return renumbered(text);
}

/** Calls of models and tools are numbered in the order of the run; here in that of the text, whoever was first. */
function renumbered(text: string): string {
  const numbers = new Map<string, string>();
  const counts: Record<string, number> = { c: 0, t: 0 };
  return text.replace(/"(call|llmCall)":"(([ct])\d+)"/g, (_, member, id, kind) => {
    if (!numbers.has(id)) {
      counts[kind] = (counts[kind] ?? 0) + 1;
      numbers.set(id, `${kind}${counts[kind]}`);
    }
    return `"${member}":"${numbers.get(id)}"`;
  });
}

/** The log with neighbouring pieces of one answer of a node as one: where they were cut is a matter of time. */
function joined(log: readonly ExecutionEvent[]): ExecutionEvent[] {
  const events: ExecutionEvent[] = [];
  const lastOf = new Map<unknown, number>(); // place of the newest event by node: nodes at work at once take turns
  for (const event of log) {
    const node = "node" in event ? event.node : undefined;
    const at = lastOf.get(node) ?? -1;
    const before = events[at];
    const isMore =
      event.kind === "llm.delta" &&
      before?.kind === "llm.delta" &&
      event.call === before.call &&
      event.channel === before.channel;
    if (isMore) events[at] = { ...before, text: before.text + event.text };
    else lastOf.set(node, events.push(event) - 1);
  }
  return events;
}

/** Waiting for a slot, and going on after it, and the inputs digest that a path carries. */
function isTurn(event: ExecutionEvent, log: readonly ExecutionEvent[]): boolean {
  if (event.kind === "node.waiting") return event.on === "slot";
  if (event.kind !== "node.resumed") return false;
  const before = log.findLast(
    ({ seq, kind, ...rest }) =>
      seq < event.seq && kind === "node.waiting" && "node" in rest && rest.node === event.node,
  );
  return before?.kind === "node.waiting" && before.on === "slot";
}

function normal(event: ExecutionEvent): object {
  const { seq: _seq, ts: _ts, ...rest } = event;
  return { ...(blank(rest) as object), runId: "run_0" };
}

/** The same data with lengths of time and instants at zero. */
function blank(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(blank);
  if (typeof value === "string")
    return value
      .replace(/^hmac:.*/, "hmac:$") // under a key of the installation
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "1970-01-01T00:00:00.000Z");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, TIMES.has(key) ? 0 : blank(each)]),
  );
}

function compare(a: string, b: string): number {
  const parts = (path: string) =>
    path
      .split(/(\d+)/)
      .map((part) => (/^\d/.test(part) ? part.padStart(8, "0") : part))
      .join("");
  return parts(a) < parts(b) ? -1 : 1;
}
