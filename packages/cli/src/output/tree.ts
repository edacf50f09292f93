/**
 * A run as a tree of lines: a pure function of the folded view, the graph and the clock.
 *   T1  every top-level node of the graph has a line, also before it starts.
 *   T2  no line is wider than the terminal.
 *   T3  with a row limit, finished branches give way first.
 */

import type { FlowGraph, FlowNode, NodeView, RunView } from "@millrace/contracts";
import { formatDuration } from "../argv/values.ts";
import { clip, clipLine, pad, type Span, width } from "./cells.ts";
import { turnedAway } from "./plain.ts";
import type { Style } from "./style.ts";
import { clean } from "./text.ts";

/** Rows of one body beyond this say nothing new at a glance; what failed or runs is always shown. */
const MAX_CALM_ROWS = 20;
const LABEL_CELLS = 32;
const TYPE_CELLS = 14;
/** A narrower terminal has no room for the id of the run and for types: what happens comes first. */
const NARROW_COLUMNS = 60;
const LABEL_SHARE = 0.4; // of a terminal, at most

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

/** A tree with what its nodes say of each other: the port by which another node turned this one away. */
interface ShownTree extends TreeOptions {
  turned(node: string): string | undefined;
}

interface Row {
  readonly depth: number;
  readonly label: string;
  readonly type: string;
  readonly view: NodeView | undefined;
  readonly children: readonly Row[];
}

/** A row in the making, with what orders it among others: its item of a `map`, and what the flow says of it. */
interface Placed extends Row {
  readonly children: Placed[];
  readonly item: number;
  readonly written: FlowNode | undefined;
}

/** The lines of a run, without line ends. */
export function treeLines(view: RunView, graph: FlowGraph, given: TreeOptions): string[] {
  const portsOf = (id: string): readonly string[] | undefined => {
    const { state, ports = ["out"] } = view.nodes.get(id) ?? {};
    return state === "succeeded" ? ports : undefined;
  };
  const options = { ...given, turned: (node: string) => turnedAway(graph, node, portsOf) };
  const rows = buildRows(view, graph);
  const calm = options.maxRows !== undefined && countRows(rows) > options.maxRows - 1;
  const lines = [headLine(view, graph, options)];
  addLines(lines, rows, options, calm);
  return options.maxRows === undefined ? lines : cut(lines, options.maxRows);
}

function buildRows(view: RunView, graph: FlowGraph): readonly Row[] {
  const rows: Placed[] = [];
  const byPath = new Map<string, Placed>();
  for (const node of graph.nodes) {
    const row: Placed = {
      depth: 0,
      label: node.id,
      type: node.type,
      view: view.nodes.get(node.id),
      children: [],
      item: 0,
      written: node,
    };
    rows.push(row);
    byPath.set(node.id, row);
  }
  const owners = new Set<Placed>();
  for (const node of view.nodes.values()) {
    const slash = node.node.lastIndexOf("/");
    if (slash < 0) continue;
    const owner = node.node.slice(0, slash);
    const [, path = owner, index = ""] = /^(.*?)(?:~\d+)?(\[\d+\])?$/s.exec(owner) ?? [];
    const parent = byPath.get(path);
    if (parent === undefined) continue;
    const id = node.node.slice(slash + 1);
    const written = parent.written?.body?.nodes.find((each) => each.id === id);
    const row: Placed = {
      depth: parent.depth + 1,
      label: `${index}${index === "" ? "" : "/"}${id}`,
      type: node.type ?? written?.type ?? "",
      view: node,
      children: [],
      item: index === "" ? 0 : Number(index.slice(1, -1)),
      written,
    };
    parent.children.push(row);
    owners.add(parent);
    byPath.set(node.node, row);
  }
  for (const { children, written } of owners) {
    const order = new Map(written?.body?.nodes.map((node, at) => [node, at]));
    const rank = (row: Placed): number => order.get(row.written as FlowNode) ?? 0;
    children.sort((x, y) => x.item - y.item || rank(x) - rank(y));
  }
  return rows;
}

function countRows(rows: readonly Row[]): number {
  let count = 0;
  for (const row of rows) count += 1 + countRows(row.children);
  return count;
}

function addLines(lines: string[], rows: readonly Row[], options: ShownTree, calm: boolean): void {
  const shown = rows.filter(
    (row, i) =>
      row.depth === 0 ||
      !(calm || (rows.length > MAX_CALM_ROWS && i >= MAX_CALM_ROWS / 2)) ||
      !isQuiet(row),
  );
  const widest = (of: (row: Row) => string): number =>
    shown.reduce((most, row) => Math.max(most, width(clean(of(row)))), 0);
  const cells = {
    label: Math.min(
      LABEL_CELLS,
      Math.floor(options.columns * LABEL_SHARE),
      widest(({ label }) => label),
    ),
    type: Math.min(
      TYPE_CELLS,
      widest(({ type }) => type),
    ),
  };
  for (const row of shown) {
    lines.push(nodeLine(row, cells, options));
    addLines(lines, row.children, options, calm);
  }
  const hidden = rows.length - shown.length;
  if (hidden > 0) {
    const indent = "  ".repeat((rows[0]?.depth ?? 0) + 1);
    lines.push(
      clipLine(
        [{ text: indent }, options.style.symbol("succeeded"), { text: ` ${hidden} more` }],
        options.columns,
      ),
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
  const id = options.columns < NARROW_COLUMNS ? "" : `${shortId(view.runId)}  `;
  return clipLine(
    [
      { text: `${clean(graph.id)}  ${id}` },
      style.symbol(symbol),
      { text: ` ${state} ${took}${usage}${cost}` },
    ],
    options.columns,
  );
}

/** Both ends of an id: enough to tell two runs apart. */
function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, 8)}…${id.slice(-2)}`;
}

function nodeLine(
  row: Row,
  cells: { readonly label: number; readonly type: number },
  options: ShownTree,
): string {
  const { style, columns } = options;
  const { view } = row;
  const state = view?.state ?? "pending";
  const open = row.children.length > 0 && (state === "running" || state === "waiting");
  const symbol =
    view?.waitingOn === "confirm" && state === "waiting" ? "confirm" : open ? "open" : state;
  const label = pad(clip(clean(row.label), cells.label), cells.label);
  const type = pad(clip(clean(row.type), LABEL_CELLS), cells.type);
  const spans: Span[] = [
    { text: "  ".repeat(row.depth + 1) },
    style.symbol(symbol),
    { text: ` ${label}` },
    ...(columns < NARROW_COLUMNS ? [] : [{ text: `  ${type}`, paint: style.dim }]),
  ];
  for (const part of view === undefined ? [] : describe(row, view, options)) {
    spans.push({ text: "  " }, part);
  }
  return clipLine(spans, columns).trimEnd();
}

function describe(row: Row, view: NodeView, options: ShownTree): Span[] {
  const { style } = options;
  const parts: Span[] = [];
  const { progress } = view;
  if (progress !== undefined && view.state !== "skipped") {
    const { done, total } = progress;
    parts.push({ text: total === undefined ? String(done) : `${done}/${total}` });
  }
  switch (view.state) {
    case "running":
      if (view.text) parts.push({ text: JSON.stringify(clean(view.text.slice(-200))) });
      else if (view.startedAt !== undefined && row.children.length === 0) {
        const took = formatDuration(Math.max(0, options.now - view.startedAt));
        parts.push({ text: took, paint: style.dim });
      }
      break;
    case "retrying": {
      const wait = formatDuration(Math.max(0, (view.nextAt ?? options.now) - options.now));
      parts.push({ text: `${view.error?.code ?? "failed"}, again in ${wait}`, paint: style.warn });
      break;
    }
    case "waiting":
      parts.push(waiting(view, options));
      break;
    case "failed": {
      const message = clean(view.error?.message ?? "");
      parts.push({ text: `${view.error?.code ?? "failed"}: ${message}`, paint: style.bad });
      break;
    }
    case "skipped":
      parts.push({ text: skippedText(view, options), paint: style.dim });
      break;
    case "cancelled":
      parts.push({ text: "cancelled", paint: style.dim });
      break;
    default:
  }
  if (view.durationMs !== undefined && view.state !== "skipped")
    parts.push({ text: formatDuration(view.durationMs) });
  if (view.cached) parts.push({ text: "cached" });
  if (view.retries > 0) {
    parts.push({ text: `${style.symbol("retrying").text}${view.retries}`, paint: style.warn });
  }
  return parts;
}

/** Why a node was skipped, in the words of the plain lines where one of its edges tells. */
function skippedText({ node, why = "" }: NodeView, { turned }: ShownTree): string {
  const cause = why === "dead" ? turned(node) : undefined;
  return cause === undefined ? (SKIPPED[why] ?? "skipped") : `skipped (${cause})`;
}

const SKIPPED: Record<string, string> = {
  dead: "skipped (no live edge)",
  when: "skipped (its guard is false)",
  run_ended: "skipped (the run ended)",
};

function waiting(view: NodeView, { interactive, style, now }: TreeOptions): Span {
  if (view.waitingOn === "timer" && view.until !== undefined) {
    return { text: `waits ${formatDuration(Math.max(0, view.until - now))}` };
  }
  if (view.waitingOn !== "confirm") return { text: `waits for a ${view.waitingOn ?? "turn"}` };
  return interactive
    ? { text: "waits for you", paint: style.warn }
    : { text: "waits for a person" };
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
