/** Events made from a view: the snapshot for one reader, and the summary of its run. */
import { exitCodeFor } from "./exit-codes.ts";
import { EVENT_LIMITS } from "./limits.ts";
import type { Counts, RunEnd, Snapshot, SummaryPayload } from "./types.ts";
import type { RunView } from "./view.ts";
import { viewToJson } from "./view-json.ts";

/**
 * The view as an event at `ts`: its `seq` is that of the last event folded in, the next event is `seq` + 1. A reader of a
 * finished run gets the snapshot of the event before the summary, then the summary itself.
 */
export function makeSnapshot(view: RunView, ts: number): Snapshot {
  return { v: 1, kind: "snapshot", runId: view.runId, seq: view.seq, ts, view: viewToJson(view) };
}

/** The members of a view that a summary needs, for writers that count instead of folding. */
export type SummaryView = Pick<
  RunView,
  | "startedAt"
  | "counts"
  | "bodyCounts"
  | "usage"
  | "costUsd"
  | "cancelReason"
  | "failures"
  | "nodes"
>;

/**
 * What the summary says of a run that ends so: counts, usage, cost and duration from the view, exit code by `exitCodeFor`.
 * `outputs` are kept only on success, `error` only where the status allows one: failed and invalid always have it (absent
 * in `end`: the first unrouted failure), cancelled only when the run timed out, or is only paused.
 */
export function makeSummary(view: SummaryView, end: RunEnd): SummaryPayload {
  const error = errorOf(view, end);
  const succeeded = end.status === "succeeded";
  return {
    status: end.status,
    outputs: succeeded ? (end.outputs ?? {}) : {},
    ...(succeeded && end.outputRefs !== undefined ? { outputRefs: end.outputRefs } : {}),
    counts: { ...view.counts },
    ...(isZero(view.bodyCounts) ? {} : { bodyCounts: { ...view.bodyCounts } }),
    usage: { ...view.usage },
    costUsd: view.costUsd,
    durationMs: view.startedAt === null ? 0 : end.ts - view.startedAt,
    ...(error === undefined ? {} : { error }),
    ...(end.status === "invalid" && end.diagnostics !== undefined
      ? { diagnostics: end.diagnostics.slice(0, EVENT_LIMITS.diagnostics) }
      : {}),
    exitCode: exitCodeFor(
      error === undefined ? { status: end.status } : { status: end.status, error },
      view.cancelReason ?? undefined,
    ),
  };
}

function errorOf(view: SummaryView, { status, error }: RunEnd): RunEnd["error"] {
  switch (status) {
    case "succeeded":
      return undefined;
    case "cancelled":
      if (view.cancelReason !== "timeout") {
        return error?.code === "run_timeout" || error?.code === "paused" ? error : undefined;
      }
      return (
        error ?? {
          code: "run_timeout",
          message: "the run took longer than it may",
          retryable: false,
        }
      );
    case "failed":
      return (
        error ??
        firstFailure(view) ?? { code: "internal", message: "the run failed", retryable: false }
      );
    default:
      return (
        error ?? {
          code: "flow_invalid",
          message: "the flow has errors; nothing ran",
          retryable: false,
        }
      );
  }
}

/** The first failure that nothing caught; top-level nodes, which are never forgotten, in order of their end. */
function firstFailure(view: SummaryView): RunEnd["error"] {
  const listed = view.failures.find(({ routed }) => routed === "none");
  let first = listed && view.nodes.get(listed.node);
  if (first === undefined) {
    for (const node of view.nodes.values()) {
      if (node.state !== "failed" || node.routed !== "none") continue;
      if (first === undefined || (node.endedAt ?? 0) < (first.endedAt ?? 0)) first = node;
    }
  }
  return first?.error && { ...first.error, node: first.node };
}

function isZero({ succeeded, failed, skipped, cancelled }: Counts): boolean {
  return succeeded + failed + skipped + cancelled === 0;
}
