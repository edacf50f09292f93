/** From what is asked for to the row of a run, and from the row to the options of the engine: the same on every start. */
import type { RunHeader, RunSpec, Trigger } from "@millrace/contracts";
import { type Engine, EngineError, type Plan, type RunOptions } from "@millrace/engine";
import type { Store } from "@millrace/store";
import { refuse, throwRunNotFound } from "./errors.ts";

/** The row of a new run. Throws `ExecutorError` `input_invalid`, `not_found` for a run to retry, `executor_unavailable`. */
export function headerOf(
  { spec, plan, runId }: { readonly spec: RunSpec; readonly plan: Plan; readonly runId: string },
  { engine, store }: { readonly engine: Engine; readonly store: Store },
): RunHeader {
  const { inputs, template, tags, source, tokenId, retryOf } = spec;
  const { timeoutMs, onFailure, concurrency, confirm, from } = spec;
  if (retryOf !== undefined && store.runs.summary(retryOf) === null) throwRunNotFound(retryOf);
  const unknown = from?.find((id) => plan.catalogEntry(id) === undefined);
  if (unknown !== undefined) {
    const message = `there is no node "${unknown}"`;
    const problem = { code: "input_invalid", message, pointer: "/from" } as const;
    throw refuse("input_invalid", message, [{ ...problem, severity: "error" }]);
  }
  const trigger = spec.trigger as Trigger;
  try {
    return {
      ...engine.header(plan, inputs, { runId, trigger, template: template?.slug, tags }),
      templateVersion: template?.version,
      source,
      tokenId,
      retryOf,
      options: { timeoutMs, onFailure, concurrency, confirm, from },
    };
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error;
    if (error.code === "engine_closed") throw refuse("executor_unavailable", error.message);
    throw refuse("input_invalid", "the inputs do not fit", error.diagnostics);
  }
}

/** How the engine starts or takes up a run with this row. */
export function optionsOf({ trigger, template, tags, options = {} }: RunHeader): RunOptions {
  const { timeoutMs, onFailure, concurrency, confirm } = options;
  const answer = confirm && (() => ({ decision: confirm, by: "run-option" }));
  return {
    trigger: trigger as Trigger,
    template,
    tags,
    timeoutMs,
    onFailure,
    concurrency,
    confirm: answer,
  };
}
