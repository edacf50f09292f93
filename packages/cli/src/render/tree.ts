/**
 * A run as a tree of lines: a pure function of the folded view, the graph and the clock.
 *   T1  every top-level node of the graph has a line, also before it starts.
 *   T2  no line is wider than the terminal.
 *   T3  with a row limit, finished branches give way first.
 */
import type { FlowGraph, NodeView, RunView } from "@millrace/contracts";
import { formatDuration } from "../duration.ts";
import type { Style } from "./style.ts";
import { clean, clip, pad, width } from "./text.ts";

/** Rows of one body beyond this say nothing new at a glance; what failed or runs is always shown. */
const MAX_CALM_ROWS = 20;
const LABEL_CELLS = 32;
const TYPE_CELLS = 14;

export interface TreeOptions {
  readonly style: Style;
  readonly columns: number;
  /** Most lines to return; absent: all. */
  readonly maxRows?: number;
  /** Epoch milliseconds, for what still runs. */
  readonly now: number;
  /** Whether a person sits at the keyboard. */
  readonly interactive: boolean;
}

interface Row {
  readonly depth: number;
  readonly label: string;
  readonly type: string;
  readonly view: NodeView | undefined;
  readonly children: Row[];
}

/** The lines of a run, without line ends. */
export function treeLines(view: RunView, graph: FlowGraph, options: TreeOptions): string[] {
  const rows = buildRows(view, graph);
  const calm = options.maxRows !== undefined && countRows(rows) > options.maxRows - 1;
  const lines = [headLine(view, graph, options)];
  addLines(lines, rows, options, calm);
  return options.maxRows === undefined ? lines : cut(lines, options.maxRows);
}

function buildRows(view: RunView, graph: FlowGraph): Row[] {
  const rows: Row[] = [];
  const byPath = new Map<string, Row>();
  for (const node of graph.nodes) {
    const row: Row = {
      depth: 0,
      label: node.id,
      type: node.type,
      view: view.nodes.get(node.id),
      children: [],
    };
    rows.push(row);
    byPath.set(node.id, row);
  }
  for (const node of view.nodes.values()) {
    const slash = node.node.lastIndexOf("/");
    if (slash < 0) continue;
    const owner = node.node.slice(0, slash);
    const [, path = owner, index = ""] = /^(.*?)(?:~\d+)?(\[\d+\])?$/s.exec(owner) ?? [];
    const parent = byPath.get(path);
    if (parent === undefined) continue;
    const label = `${index}${index === "" ? "" : "/"}${node.node.slice(slash + 1)}`;
    const row: Row = {
      depth: parent.depth + 1,
      label,
      type: node.type ?? "",
      view: node,
      children: [],
    };
    parent.children.push(row);
    byPath.set(node.node, row);
  }
  return rows;
}

function countRows(rows: readonly Row[]): number {
  let count = 0;
  for (const row of rows) count += 1 + countRows(row.children);
  return count;
}

function addLines(
  lines: string[],
  rows: readonly Row[],
  options: TreeOptions,
  calm: boolean,
): void {
  const limit = Math.min(LABEL_CELLS, Math.max(0, ...rows.map((row) => width(clean(row.label)))));
  let hidden = 0;
  for (const [i, row] of rows.entries()) {
    const done = row.depth > 0 && isQuiet(row);
    if (done && (calm || (rows.length > MAX_CALM_ROWS && i >= MAX_CALM_ROWS / 2))) {
      hidden += 1;
      continue;
    }
    lines.push(nodeLine(row, limit, options));
    addLines(lines, row.children, options, calm);
  }
  if (hidden > 0) {
    const indent = "  ".repeat((rows[0]?.depth ?? 0) + 1);
    lines.push(
      clip(`${indent}${options.style.symbol("succeeded")} ${hidden} more`, options.columns),
    );
  }
}

function isQuiet(row: Row): boolean {
  return (
    (row.view?.state === "succeeded" || row.view?.state === "skipped") &&
    row.children.every(isQuiet)
  );
}

function headLine(view: RunView, graph: FlowGraph, options: TreeOptions): string {
  const { style } = options;
  const state = view.state === "pending" ? "running" : view.state;
  const since = view.startedAt ?? options.now;
  const took = formatDuration(view.summary?.durationMs ?? Math.max(0, options.now - since));
  const symbol =
    state === "paused"
      ? "waiting"
      : state === "cancelling" || state === "invalid"
        ? "cancelled"
        : state;
  const usage =
    view.usage.calls > 0 ? `   tokens ${view.usage.inputTokens + view.usage.outputTokens}` : "";
  const cost = view.costUsd === null || view.costUsd === 0 ? "" : `   $${view.costUsd.toFixed(4)}`;
  const head = `${clean(graph.id)}  ${shortId(view.runId)}  ${style.symbol(symbol)} ${state} ${took}${usage}${cost}`;
  return clip(head, options.columns);
}

/** Both ends of an id: enough to tell two runs apart. */
function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, 8)}…${id.slice(-2)}`;
}

function nodeLine(row: Row, labelCells: number, options: TreeOptions): string {
  const { style, columns } = options;
  const { view } = row;
  const state = view?.state ?? "pending";
  const open = row.children.length > 0 && (state === "running" || state === "waiting");
  const symbol =
    view?.waitingOn === "confirm" && state === "waiting" ? "confirm" : open ? "open" : state;
  const label = pad(clip(clean(row.label), LABEL_CELLS), labelCells);
  const type = pad(clean(row.type), TYPE_CELLS);
  const detail = view === undefined ? "" : describe(row, view, options);
  const text = `${"  ".repeat(row.depth + 1)}${style.symbol(symbol)} ${label}  ${style.dim(type)}  ${detail}`;
  return clip(text.trimEnd(), columns);
}

function describe(row: Row, view: NodeView, options: TreeOptions): string {
  const { style } = options;
  const parts: string[] = [];
  switch (view.state) {
    case "running":
      if (view.text) parts.push(JSON.stringify(clean(view.text.slice(-200))));
      else if (view.startedAt !== undefined && row.children.length === 0) {
        parts.push(style.dim(formatDuration(Math.max(0, options.now - view.startedAt))));
      }
      break;
    case "retrying":
      parts.push(
        style.warn(
          `${view.error?.code ?? "failed"}, again in ${formatDuration(Math.max(0, (view.nextAt ?? options.now) - options.now))}`,
        ),
      );
      break;
    case "waiting":
      parts.push(waiting(view, options));
      break;
    case "failed":
      parts.push(style.bad(`${view.error?.code ?? "failed"}: ${clean(view.error?.message ?? "")}`));
      break;
    case "skipped":
      parts.push(style.dim(SKIPPED[view.why ?? ""] ?? "skipped"));
      break;
    case "cancelled":
      parts.push(style.dim("cancelled"));
      break;
    default:
  }
  if (view.progress !== undefined && view.state !== "skipped") {
    const { done, total } = view.progress;
    parts.unshift(total === undefined ? String(done) : `${done}/${total}`);
  }
  if (view.durationMs !== undefined && view.state !== "skipped")
    parts.push(formatDuration(view.durationMs));
  if (view.cached) parts.push("cached");
  if (view.retries > 0) parts.push(style.warn(`↻${view.retries}`));
  return parts.join("  ");
}

const SKIPPED: Record<string, string> = {
  dead: "skipped (no live edge)",
  when: "skipped (its guard is false)",
  run_ended: "skipped (the run ended)",
};

function waiting(view: NodeView, { interactive, style, now }: TreeOptions): string {
  if (view.waitingOn === "timer" && view.until !== undefined) {
    return `waits ${formatDuration(Math.max(0, view.until - now))}`;
  }
  if (view.waitingOn !== "confirm") return `waits for a ${view.waitingOn ?? "turn"}`;
  return interactive ? style.warn("waits for you") : "waits for a person";
}

/** Keeps the head, the last rows, and says how much is missing between. */
function cut(lines: string[], maxRows: number): string[] {
  if (lines.length <= maxRows) return lines;
  const kept = Math.max(0, maxRows - 2);
  return [
    lines[0] as string,
    `  … ${lines.length - 1 - kept} more`,
    ...lines.slice(lines.length - kept),
  ];
}
