/**
 * The spans of a run as rows of a timeline.
 *   T1  An attempt is one row; its calls and waits lie on it.
 *   T2  The rows of a body follow the row of the node that it belongs to.
 */
import type { SpanView, Trace } from "@millrace/contracts";
import type { GanttRow, GanttSegment } from "../../parts/gantt.tsx";
import { topOf } from "./run-items.ts";

/** Which rows are wanted. */
export interface RowOptions {
  /** `seq` of the moment; undefined: now. */
  readonly at: number | undefined;
  /** The time of that moment. */
  readonly time: number;
  readonly selected: string | undefined;
  readonly attempt: number | undefined;
}

/** The rows of a trace at a moment. */
export function timelineRows(trace: Trace, options: RowOptions): readonly GanttRow[] {
  const groups = new Map<string, Building[]>();
  /** The latest attempt of each node: its calls and waits begin before the next one does. */
  const latest = new Map<string, Building>();
  for (const span of trace.spans.values()) {
    const segment = segmentOf(span, trace.since, options);
    if (segment === undefined) continue;
    const { node: path, attempt } = span;
    if (span.kind !== "node") {
      const known = latest.get(path);
      if (known?.attempt === attempt) known.segments.push(segment); // else its attempt was forgotten
      continue;
    }
    const isSelected =
      path === options.selected && (options.attempt === undefined || options.attempt === attempt);
    const row = { key: span.order, path, attempt, segments: [segment], isSelected };
    latest.set(path, row);
    const top = topOf(path);
    const group = groups.get(top);
    if (group === undefined) groups.set(top, [row]);
    else group.push(row);
  }
  return [...groups.values()].flat();
}

type Building = GanttRow & { readonly segments: GanttSegment[] };

/** A span as far as it had come; undefined: it had not begun. */
function segmentOf(
  span: SpanView,
  since: number,
  { at, time }: RowOptions,
): GanttSegment | undefined {
  const { kind, name, state, startedAt, endedAt, firstSeq, lastSeq } = span;
  const title = kind === "node" ? state : name;
  // What a snapshot told has no position but its own: then the clock decides.
  const isTold = firstSeq > since;
  const hasBegun = at === undefined || (isTold ? firstSeq <= at : startedAt <= time);
  if (!hasBegun) return undefined;
  const isOver =
    endedAt !== undefined && (at === undefined || (isTold ? lastSeq <= at : endedAt <= time));
  if (isOver) return { kind, state, from: startedAt, to: endedAt, title };
  const isOpen = state === "running" || state === "waiting";
  const then = isOpen && at === undefined ? state : kind === "wait" ? "waiting" : "running";
  return {
    kind,
    state: then,
    from: startedAt,
    to: Math.max(startedAt, time),
    title: kind === "node" ? then : name,
  };
}
