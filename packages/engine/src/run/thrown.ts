/** What code of others threw on the way to a failure, and to whoever asks for it. */
import { knownFailure, toFailure } from "../failures.ts";
import type { Failure, NodeType } from "../node-type.ts";
import type { ThrowPlace } from "../options.ts";
import { isPromise } from "../values.ts";
import type { Attempt } from "./state.ts";

/** The failure of what `type` threw, by default the type of the node itself. An error by which a core type says that it failed is not reported. */
export function thrownBy(
  attempt: Attempt,
  thrown: unknown,
  type: NodeType = attempt.type,
): Failure {
  const core = type.core === true;
  const name = type.entry.type;
  if (!core || knownFailure(thrown) === null) reportThrown(attempt, thrown, name);
  return toFailure(thrown, { core, type: name });
}

/** `onError` receives the error with the next microtask, unless the try was stopped. */
export function reportThrown(attempt: Attempt, thrown: unknown, type: string): void {
  const { run, frame, node, stopping } = attempt;
  const { onError } = run.engine.options;
  const isStopped = stopping !== null || frame.stopping !== null || run.stop !== null;
  if (onError === undefined || isStopped) return;
  const at: ThrowPlace = {
    runId: run.id,
    node: frame.path(node),
    attempt: frame.attempt(node),
    type,
    redact: (text) => run.redactor?.clean(text) ?? text,
  };
  queueMicrotask(() => tell(onError, thrown, at));
}

/** Calls `onError`; its exceptions and rejections do not stop the run. */
function tell(
  onError: (error: unknown, at: ThrowPlace) => unknown,
  thrown: unknown,
  at: ThrowPlace,
): void {
  try {
    const answer = onError(thrown, at);
    if (isPromise(answer)) Promise.resolve(answer).catch(() => {});
  } catch {
    // an error while reporting an error is dropped
  }
}
