/** From what is asked for to the row of a run, and from the row to the options of the engine: the same on every start. */
import type { RunHeader, RunHeaderOptions, RunSpec, Trigger } from "@millrace/contracts";
import { type Engine, EngineError, type Plan, type RunOptions } from "@millrace/engine";
import type { Store } from "@millrace/store";
import { missing, refuse } from "./errors.ts";

/** What a run is described by. */
interface Described {
  readonly spec: RunSpec;
  readonly plan: Plan;
  readonly runId: string;
}

/** The row of a new run. Throws `ExecutorError` `input_invalid`, `not_found` for a run to retry, `executor_unavailable`. */
export function headerOf(
  { spec, plan, runId }: Described,
  { engine, store }: { readonly engine: Engine; readonly store: Store },
): RunHeader {
  const { template, source, tokenId, retryOf, timeoutMs, onFailure, concurrency, confirm, from } =
    spec;
  if (retryOf !== undefined && store.runs.summary(retryOf) === null) missing(retryOf);
  const unknown = from?.find((id) => plan.catalogEntry(id) === undefined);
  if (unknown !== undefined) {
    const message = `there is no node "${unknown}"`;
    const problem = {
      code: "input_invalid",
      severity: "error",
      message,
      pointer: "/from",
    } as const;
    throw refuse("input_invalid", message, [problem]);
  }
  const options: RunHeaderOptions = {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onFailure === undefined ? {} : { onFailure }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(confirm === undefined ? {} : { confirm }),
    ...(from === undefined ? {} : { from }),
  };
  return {
    ...checked({ spec, plan, runId }, engine),
    ...(template === undefined ? {} : { templateVersion: template.version }),
    ...(source === undefined ? {} : { source }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(retryOf === undefined ? {} : { retryOf }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** The part that the engine knows: inputs with their defaults, digests. */
function checked({ spec, plan, runId }: Described, engine: Engine): RunHeader {
  const { template, tags } = spec;
  try {
    return engine.header(plan, spec.inputs, {
      runId,
      trigger: spec.trigger as Trigger,
      ...(template === undefined ? {} : { template: template.slug }),
      ...(tags === undefined ? {} : { tags }),
    });
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error;
    if (error.code === "engine_closed") throw refuse("executor_unavailable", error.message);
    throw refuse("input_invalid", "the inputs do not fit", error.diagnostics);
  }
}

/** How the engine starts or takes up a run with this row. */
export function optionsOf({ trigger, template, tags, options = {} }: RunHeader): RunOptions {
  const { timeoutMs, onFailure, concurrency, confirm } = options;
  return {
    trigger: trigger as Trigger,
    ...(template === undefined ? {} : { template }),
    ...(tags === undefined ? {} : { tags }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onFailure === undefined ? {} : { onFailure }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(confirm === undefined ? {} : { confirm: () => ({ decision: confirm, by: "run-option" }) }),
  };
}
