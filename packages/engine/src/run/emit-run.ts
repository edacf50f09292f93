/** The events of the run itself, made as those of its nodes are: see `emit.ts`. */
import type {
  CancelReason,
  PauseReason,
  ResumeReason,
  Summary,
  SummaryPayload,
} from "@millrace/contracts";
import { cutText, EVENT_LIMITS } from "@millrace/contracts";
import { add } from "./emit.ts";
import type { RunCore } from "./state.ts";

export function emitRunStarted(run: RunCore): void {
  const { graph, hash, layout } = run.parts;
  const { template, tags } = run.options;
  const { title } = graph;
  add(run, {
    v: 1,
    kind: "run.started",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    flow: title === undefined ? { id: graph.id, hash } : { id: graph.id, title, hash },
    nodeCount: layout.size,
    onFailure: run.onFailure,
    inputs: run.inputsDigest,
    trigger: run.options.trigger ?? "embed",
    ...(template !== undefined && { template }),
    ...(run.resumedFrom !== null && { resumedFrom: run.resumedFrom }),
    ...(tags !== undefined && { tags }),
  });
}

export function emitPaused(
  run: RunCore,
  reason: PauseReason,
  open: Iterable<string> = run.confirmations.keys(),
): void {
  add(run, {
    v: 1,
    kind: "run.paused",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    reason,
    confirmations: [...open].sort(),
  });
}

export function emitResumed(run: RunCore, reason: ResumeReason, by?: string): void {
  const { id, now: ts, log } = run;
  const seq = log.seq + 1;
  add(
    run,
    by === undefined
      ? { v: 1, kind: "run.resumed", runId: id, seq, ts, reason }
      : { v: 1, kind: "run.resumed", runId: id, seq, ts, reason, by },
  );
}

export function emitCancelling(
  run: RunCore,
  reason: CancelReason,
  who: { by?: string | undefined; note?: string | undefined },
): void {
  add(run, {
    v: 1,
    kind: "run.cancelling",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    reason,
    ...(who.by !== undefined && { by: cutText(who.by, EVENT_LIMITS.message).text }),
    ...(who.note !== undefined && { note: cutText(who.note, EVENT_LIMITS.message).text }),
  });
}

export function emitSummary(run: RunCore, payload: SummaryPayload): Summary {
  const head = { v: 1, kind: "summary", runId: run.id, seq: run.log.seq + 1, ts: run.now } as const;
  const summary = run.redactor === null ? payload : run.redactor.clean(payload as never);
  const event: Summary = { ...head, ...(summary as SummaryPayload) };
  add(run, event);
  return event;
}
