/** Rules of one attempt: its effect and its clock. */
import { type Effect, NodeError } from "@millrace/contracts";
import type { CoreContext, Fields } from "../node-type.ts";
import { serviceOf } from "./capabilities.ts";
import { stopAttempt } from "./end.ts";
import { scopeOf } from "./scope.ts";
import { type Attempt, abortReason } from "./state.ts";

/** Effect of a node; of a type whose effect depends on fields that are not known yet, the strongest. */
export function effectOf(attempt: Attempt, fields: Fields | null): Effect {
  const { type } = attempt;
  if (type.effectOf === undefined) return type.entry.effect;
  return fields === null ? "destructive" : type.effectOf(fields, serviceOf(attempt));
}

/** Whether doing it again does no harm, whatever `delivery` says. */
export function mayRepeat(attempt: Attempt): boolean {
  const { run, frame, node, type } = attempt;
  let fields: Fields | null = null;
  try {
    fields = frame.layout.fields[node]?.evaluate(scopeOf(run, frame), attempt.startedAt) ?? null;
  } catch {
    return true; // it fails before it does anything
  }
  const effect = effectOf(attempt, fields);
  if (effect === "pure" || effect === "read" || type.entry.idempotent === true) return true;
  return fields !== null && type.idempotentOf?.(fields, serviceOf(attempt)) === true;
}

/** Starts the timeout of an attempt whose body waits. */
export function armTimeout(attempt: Attempt): void {
  const { timeoutMs } = attempt.policy;
  if (timeoutMs === null || attempt.over || attempt.type.ownsTimeout === true) return;
  if (attempt.timer !== null || attempt.stopping !== null) return;
  const left = attempt.extrasIfAny?.timeLeftMs ?? timeoutMs;
  const { run } = attempt;
  attempt.timer = run.engine.timers.set(run.now + left, () => {
    attempt.timer = null;
    run.tick();
    stopAttempt(attempt, "timeout");
    run.pump();
  });
}

/** The signal that stops the body of an attempt; made at its first use. */
export function signalOf(attempt: Attempt): AbortSignal {
  if (attempt.controller === null) {
    attempt.controller = new AbortController();
    const { over, stopping } = attempt;
    if (over || stopping !== null) attempt.controller.abort(abortReason(stopping));
  }
  return attempt.controller.signal;
}

/** Runs `work` with a signal that aborts as that of `ctx` does, and with `timeout` after `ms`; no timer and no listener is left behind. */
export async function within<T>(
  { run }: Attempt,
  { ms, ctx }: { readonly ms: number; readonly ctx: Pick<CoreContext, "onAbort" | "signal"> },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { timers } = run.engine;
  const inner = new AbortController();
  ctx.onAbort(() => inner.abort(ctx.signal.reason)); // a second signal for every call would take as long as the rest of this
  run.tick();
  const timer = timers.set(run.now + ms, () => {
    const text = `no end within ${ms} ms`;
    inner.abort(new NodeError("timeout", text, { reason: "timeout", retryable: true }));
  });
  try {
    return await work(inner.signal);
  } finally {
    timers.cancel(timer);
    ctx.onAbort(null);
  }
}
