/**
 * Flows that a node ran as tools when the process died. Their node begins another attempt, or ends; so what was open of them
 * ends first, the inner before the outer. A tool call that begins anew runs its flow anew.
 */

import { emitCancelled, emitConfirmResolved, emitReport } from "./emit.ts";
import type { Past, PastNode } from "./past.ts";
import type { Attempt } from "./state.ts";
import { CANCELLED, isTerminal } from "./states.ts";

/** Ends every open node of the flows that this attempt has called. */
export function endOrphans(attempt: Attempt, past: Past): void {
  const { frame, node } = attempt;
  const tries = frame.attempt(node);
  const within = `${frame.path(node)}${tries > 1 ? `~${tries}` : ""}[`;
  const open = [...past.nodes].filter(
    ([path, { state }]) => path.startsWith(within) && !isTerminal(state),
  );
  const depth = ([path]: [string, PastNode]): number => path.split("/").length;
  open.sort((a, b) => depth(b) - depth(a));
  for (const [path, was] of open) endOrphan(attempt, past, path, was);
}

function endOrphan({ run }: Attempt, past: Past, path: string, was: PastNode): void {
  const place = { run, frame: { path: () => path, attempt: () => was.attempt }, node: 0 };
  for (const { call, kind, lengths } of past.openCalls.get(path) ?? []) {
    if (kind === "tool") {
      const error = { code: "interrupted", message: "the process ended", retryable: true };
      emitReport(place, { kind: "tool.finished", call, outcome: "error", error, durationMs: 0 });
      continue;
    }
    const discarded = Object.values(lengths).reduce((sum, units) => sum + units, 0);
    run.calls.add({});
    emitReport(place, {
      kind: "llm.failed",
      call,
      reason: "interrupted",
      discarded,
      next: "none",
    });
  }
  for (const { asked, answer } of was.questions) {
    if (answer !== null) continue;
    emitConfirmResolved(run, place.frame, 0, { id: asked.id, outcome: "cancelled" });
    run.resolved ??= new Map();
    run.resolved.set(asked.id, "cancelled");
  }
  emitCancelled(run, place.frame, 0, "parent");
  was.state = CANCELLED;
  run.bodyCounts.cancelled += 1;
}
