/** One line per step of a run, for logs and pipes: no cursor codes, no deltas. */

import type { AnyEvent, ExecutionEvent, FlowEdge, FlowGraph } from "@millrace/contracts";
import { formatDuration } from "../argv/values.ts";
import type { Style } from "./style.ts";
import { clean, cleanLine } from "./text.ts";

const KIND_CELLS = 15;
/** Longest text of others on one line; the whole of it is in the events. */
const MAX_TEXT_LENGTH = 200;

interface PlainOptions {
  readonly style: Style;
  readonly verbose: boolean;
  readonly quiet: boolean;
  /** The dependency because of which a node was skipped. */
  readonly because?: (node: string) => string | undefined;
}

/** Edges by the node that they lead to: a tree asks for many nodes, many times. */
const edgesTo = new WeakMap<FlowGraph, Map<string, FlowEdge[]>>();

/** Which step before a node, of those that have succeeded, left by another port than the one that leads there. */
export function turnedAway(
  graph: FlowGraph,
  node: string,
  portsOf: (node: string) => readonly string[] | undefined,
): string | undefined {
  let edges = edgesTo.get(graph);
  if (edges === undefined) {
    edges = new Map<string, FlowEdge[]>();
    for (const edge of graph.edges) {
      const others = edges.get(edge.to);
      if (others === undefined) edges.set(edge.to, [edge]);
      else others.push(edge);
    }
    edgesTo.set(graph, edges);
  }
  for (const { from, port } of edges.get(node) ?? []) {
    const ports = portsOf(from);
    if (ports === undefined || ports.includes(port)) continue;
    return `${text(from)} left by ${text(ports.join(", ") || "no port")}`;
  }
  return undefined;
}

/** The line of one event without its line end; undefined where the event is not worth one. */
export function plainLine(event: AnyEvent, options: PlainOptions): string | undefined {
  const known = event as ExecutionEvent;
  if (options.quiet && known.kind !== "summary" && known.kind !== "node.failed") return undefined;
  const words = describe(known, options);
  if (words === undefined) return undefined;
  const line = words.filter((word) => word !== "").join(" ");
  return `${options.style.dim(time(event.ts))} ${event.kind.padEnd(KIND_CELLS)} ${line}`.trimEnd();
}

function describe(
  event: ExecutionEvent,
  { style, verbose, because }: PlainOptions,
): string[] | undefined {
  switch (event.kind) {
    case "run.started":
      return [style.bold(clean(event.flow.id)), event.runId, `nodes=${event.nodeCount}`];
    case "run.paused":
      return [event.reason, ...event.confirmations];
    case "run.resumed":
    case "run.cancelling":
      return [event.reason, text(event.by)];
    case "node.started":
      return verbose ? [text(event.node), event.type, `attempt=${event.attempt}`] : undefined;
    case "node.succeeded":
      return [
        text(event.node),
        event.cached ? "cached" : formatDuration(event.durationMs),
        event.cached || event.ports === undefined ? "" : `-> ${text(event.ports.join(", "))}`,
      ];
    case "node.retrying":
      return [
        text(event.node),
        `attempt=${event.attempt}`,
        style.warn(event.error.code),
        `next=${formatDuration(event.delayMs)}`,
      ];
    case "node.failed":
      return [
        text(event.node),
        style.bad(event.error.code),
        text(event.error.message),
        event.routed === "none" ? "" : `routed=${event.routed}`,
      ];
    case "node.skipped":
      return [text(event.node), skipped(event.node, event.why, because)];
    case "node.cancelled":
      return [text(event.node), event.reason];
    case "confirm.requested":
      return [text(event.node), event.id, text(event.prompt)];
    case "confirm.resolved":
      return [
        text(event.node),
        event.id,
        event.outcome,
        event.by === undefined ? "" : `by=${text(event.by)}`,
      ];
    case "node.waiting":
      return verbose ? [text(event.node), event.on] : undefined;
    case "llm.started":
      return verbose
        ? [text(event.node), event.call, text(event.provider), text(event.model)]
        : undefined;
    case "llm.failed":
      return [text(event.node), event.call, style.warn(event.reason), `next=${event.next}`];
    case "tool.started":
      return [text(event.node), event.call, text(event.tool)];
    case "log":
      if (event.level === "debug" && !verbose) return undefined;
      return [
        event.node === undefined ? "" : text(event.node),
        event.level === "warn"
          ? style.warn("warn")
          : event.level === "error"
            ? style.bad("error")
            : event.level,
        text(event.text),
      ];
    case "summary":
      return summary(event, style);
    default:
      return undefined;
  }
}

function skipped(node: string, why: string, because: PlainOptions["because"]): string {
  const cause = why === "dead" ? because?.(node) : undefined;
  return cause === undefined ? why : `${why} (${cause})`;
}

function summary(event: Extract<ExecutionEvent, { kind: "summary" }>, style: Style): string[] {
  const counts = event.counts;
  const sum = (key: keyof typeof counts) => counts[key] + (event.bodyCounts?.[key] ?? 0);
  const isPaused = event.error?.code === "paused";
  const status = event.status === "succeeded" ? style.good(event.status) : style.bad(event.status);
  const cancelled = sum("cancelled");
  const words = [
    isPaused ? style.warn("paused") : status,
    formatDuration(event.durationMs),
    `nodes: ${sum("succeeded")} ok ${sum("failed")} failed ${sum("skipped")} skipped`,
    cancelled > 0 ? `${cancelled} cancelled` : "",
  ];
  if (event.error !== undefined) words.push(`${event.error.code}: ${text(event.error.message)}`);
  return words;
}

function text(value: string | undefined): string {
  if (value === undefined) return "";
  const points = [...value.slice(0, MAX_TEXT_LENGTH * 2)];
  const rest = points.length > MAX_TEXT_LENGTH || points.join("").length < value.length;
  return cleanLine(rest ? `${points.slice(0, MAX_TEXT_LENGTH - 1).join("")}…` : value);
}

function time(ts: number): string {
  const date = new Date(ts);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
