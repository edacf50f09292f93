/** What code of others threw on the way to a failure, and to whoever asks for it. */
import { knownFailure, toFailure } from "../failures.ts";
import type { Failure, NodeType } from "../node-type.ts";
import type { ThrowPlace } from "../options.ts";
import { isPromise } from "../values.ts";
import type { Attempt } from "./state.ts";

/** The failure of what `type` threw, by default the type of the node itself. `onError` receives the error with the next microtask. */
export function thrownBy(
  attempt: Attempt,
  thrown: unknown,
  type: NodeType = attempt.type,
): Failure {
  const core = type.core === true;
  const name = type.entry.type;
  const { run, frame, node, stopping } = attempt;
  const { onError } = run.engine.options;
  const isStopped = stopping !== null || frame.stopping !== null || run.stop !== null;
  const isExpected = core && knownFailure(thrown) !== null;
  if (onError !== undefined && !isStopped && !isExpected) {
    const at: ThrowPlace = {
      runId: run.id,
      node: frame.path(node),
      attempt: frame.attempt(node),
      type: name,
      redact: (text) => run.redactor?.clean(text) ?? text,
    };
    queueMicrotask(() => tell(onError, thrown, at));
  }
  return toFailure(thrown, { core, type: name });
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
