/** How a view follows the steps of nodes. */
import { bytesBeyond, cutText, EVENT_LIMITS, VIEW_LIMITS } from "./limits.ts";
import type { EventOf, NodeChecked, NodeFailed, NodeProgress, NodeSucceeded } from "./types.ts";
import type { LiveNode, RunView } from "./view.ts";
import { beginAttempt, nodeAt, reopen, settle } from "./view-state.ts";

/** Applies one step of a node. */
export function foldNode(view: RunView, e: EventOf<"node">): void {
  const node = nodeAt(view, e.node);
  switch (e.kind) {
    case "node.started":
      reopen(view, node, "running");
      beginAttempt(node, e.attempt, e.ts);
      node.type = e.type;
      break;
    case "node.retrying":
      reopen(view, node, "retrying");
      node.attempt = e.attempt;
      node.error = e.error;
      node.retries += 1;
      node.nextAt = e.ts + e.delayMs;
      break;
    case "node.waiting":
      reopen(view, node, "waiting");
      node.waitingOn = e.on;
      node.until = e.until;
      break;
    case "node.resumed":
      reopen(view, node, "running");
      node.waitingOn = undefined;
      node.until = undefined;
      break;
    case "node.progress":
      node.progress = progressOf(e);
      break;
    case "node.checked":
      node.checks = checksAfter(node, e);
      break;
    case "node.succeeded":
      settle(view, node, "succeeded", e.ts);
      node.attempt = e.attempt;
      node.durationMs = e.durationMs;
      node.ports = e.ports;
      node.cached = e.cached;
      keepOutput(node, e);
      break;
    case "node.failed":
      settle(view, node, "failed", e.ts);
      node.attempt = e.attempt;
      node.durationMs = e.durationMs;
      node.error = e.error;
      node.routed = e.routed;
      keepOutput(node, e);
      foldFailure(view, e);
      break;
    case "node.skipped":
      settle(view, node, "skipped", e.ts);
      node.why = e.why;
      break;
    case "node.cancelled":
      settle(view, node, "cancelled", e.ts);
      node.why = e.reason;
      break;
  }
}

/** A large output is kept as what its preview shows. */
function keepOutput(node: LiveNode, e: NodeSucceeded | NodeFailed): void {
  node.outputRef = e.outputRef;
  node.output = undefined;
  if (e.output === undefined) return;
  const bytes = bytesBeyond(e.output, VIEW_LIMITS.outputBytes);
  if (bytes === 0) {
    node.output = e.output;
    return;
  }
  const preview = cutText(JSON.stringify(e.output), EVENT_LIMITS.preview).text;
  node.outputRef = { ref: "", bytes, mediaType: "application/json", preview };
}

function progressOf({ done, total, unit }: NodeProgress): LiveNode["progress"] {
  if (total === undefined) return unit === undefined ? { done } : { done, unit };
  return unit === undefined ? { done, total } : { done, total, unit };
}

function checksAfter({ checks }: LiveNode, { pass, level }: NodeChecked): LiveNode["checks"] {
  return {
    passed: checks.passed + (pass ? 1 : 0),
    failed: checks.failed + (!pass && level === "error" ? 1 : 0),
    warned: checks.warned + (!pass && level === "warn" ? 1 : 0),
  };
}

function foldFailure(view: RunView, { node, attempt, error, routed }: NodeFailed): void {
  if (view.failures.length >= VIEW_LIMITS.failures) return;
  view.failures.push({ node, attempt, code: error.code, message: error.message, routed });
}
