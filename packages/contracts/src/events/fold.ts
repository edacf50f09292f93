/**
 * The one reducer: a log as the state of its run.
 *   F1  it never throws; what a payload does not say changes nothing.
 *   F2  each event costs the same, however long the log is.
 *   F3  the event is applied as stated, the last word wins: `foldEvents` shows, `checkLog` judges.
 * @see the events page, "Fold"
 */
import { foldCall } from "./fold-call.ts";
import { foldNode } from "./fold-node.ts";
import { VIEW_LIMITS } from "./limits.ts";
import type { Growing } from "./sums.ts";
import type { AnyEvent, ExecutionEvent, Log, RunStarted, Summary } from "./types.ts";
import type { RunView } from "./view.ts";
import { viewFromJson } from "./view-json.ts";
import type { LogView } from "./view-parts.ts";

/**
 * Applies `event` to `view`, which it changes and answers. An event that was folded before (`seq <= view.seq`) is ignored;
 * a `snapshot` that is not older than the view replaces it. Unknown kinds move `seq` and `updatedAt` only.
 */
export function foldEvents(view: RunView, event: AnyEvent): RunView {
  const e = event as ExecutionEvent;
  if (e.kind === "snapshot" ? e.seq < view.seq : e.seq <= view.seq) return view;
  try {
    if (e.kind === "snapshot") return Object.assign(view, viewFromJson(e.view), { seq: e.seq });
    view.seq = e.seq;
    view.updatedAt = e.ts;
    if (view.runId === "") view.runId = e.runId;
    apply(view, e);
  } catch {
    // F1: only a payload that is not of its kind gets here, such as a delta without text.
  }
  return view;
}

function apply(view: RunView, e: ExecutionEvent): void {
  switch (e.kind) {
    case "node.started":
    case "node.retrying":
    case "node.waiting":
    case "node.resumed":
    case "node.progress":
    case "node.succeeded":
    case "node.failed":
    case "node.skipped":
    case "node.cancelled":
    case "node.checked":
      foldNode(view, e);
      break;
    case "llm.started":
    case "llm.delta":
    case "llm.finished":
    case "llm.failed":
    case "tool.started":
    case "tool.finished":
    case "confirm.requested":
    case "confirm.resolved":
      foldCall(view, e);
      break;
    case "log":
      foldLog(view, e);
      break;
    case "run.started":
      foldStarted(view, e);
      break;
    case "run.paused":
      view.state = "paused";
      view.paused = { reason: e.reason, since: e.ts };
      break;
    case "run.resumed":
      view.state = "running";
      view.paused = null;
      break;
    case "run.cancelling":
      view.state = "cancelling";
      view.paused = null;
      view.cancelReason = e.reason;
      break;
    case "summary":
      view.state = e.status;
      view.paused = null;
      view.summary = summaryPayload(e);
      break;
    default:
  }
}

function foldStarted(view: RunView, e: RunStarted): void {
  const { id, title, hash } = e.flow;
  view.state = "running";
  view.startedAt = e.ts;
  view.flow = title === undefined ? { id, hash } : { id, title, hash };
  view.nodeCount = e.nodeCount;
  view.onFailure = e.onFailure;
  view.trigger = e.trigger;
}

function foldLog(view: RunView, e: Log): void {
  const { seq, ts, node, level, channel, text, code } = e;
  const entry: Growing<LogView> = { seq, ts, level, channel, text };
  if (node !== undefined) entry.node = node;
  if (code !== undefined) entry.code = code;
  view.logs.push(entry);
  if (view.logs.length > VIEW_LIMITS.logs) view.logs.shift();
  if (e.level === "warn") view.warnings += 1;
}

/** The payload of a summary, without its envelope. */
function summaryPayload(e: Summary): RunView["summary"] {
  const { v, kind, runId, seq, ts, ...payload } = e;
  return payload;
}
