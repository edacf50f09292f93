/** From what is asked for to the row of a run, and from the row back to work: the same on every start. */
import {
  createRunId,
  type JsonObject,
  type RunHeader,
  type RunSpec,
  type RunState,
  type RunSummary,
  type Trigger,
} from "@millrace/contracts";
import {
  type compileFlow,
  type Engine,
  EngineError,
  type Plan,
  type RunOptions,
} from "@millrace/engine";
import { type Store, StoreError, varsFor } from "@millrace/store";
import { refuse, runExistsError, runNotLocalError, throwRunNotFound } from "./errors.ts";
import type { LiveRun } from "./live-runs.ts";
import type { Plans } from "./plans.ts";

/** The row of a new run. Throws `ExecutorError` `input_invalid`, `executor_unavailable`. */
export function headerOf(
  {
    spec,
    plan,
    runId,
    vars,
    environment,
  }: {
    readonly spec: RunSpec;
    readonly plan: Plan;
    readonly runId: string;
    readonly vars: JsonObject | undefined;
    readonly environment: string | undefined;
  },
  engine: Engine,
): RunHeader {
  const { inputs, template, tags, source, tokenId, retryOf } = spec;
  const { timeoutMs, onFailure, concurrency, confirm, from, failedItems, traceparent } = spec;
  const unknown = from?.find((id) => plan.catalogEntry(id) === undefined);
  if (unknown !== undefined) {
    const message = `there is no node "${unknown}"`;
    const problem = { code: "input_invalid", message, pointer: "/from" } as const;
    throw refuse("input_invalid", message, [{ ...problem, severity: "error" }]);
  }
  const trigger = spec.trigger as Trigger;
  try {
    const header = engine.header(plan, inputs, { runId, trigger, template: template?.slug, tags });
    const given = { timeoutMs, onFailure, concurrency, confirm, from, failedItems, traceparent };
    const options = Object.assign(given, { vars, environment: environmentOf(spec, environment) });
    const version = template?.version;
    return Object.assign(header, { templateVersion: version, source, tokenId, retryOf, options });
  } catch (error) {
    if (!EngineError.isInstance(error)) throw error;
    if (error.code === "engine_closed") throw refuse("executor_unavailable", error.message);
    throw refuse("input_invalid", "the inputs do not fit", error.diagnostics);
  }
}

/**
 * What a new run reads as `vars`, once and for all: a run that is repeated has what it had. Undefined: its flow reads none. Throws
 * `ExecutorError` `input_invalid` for a name that is not set.
 */
export async function varsOf(
  spec: RunSpec,
  plan: Plan,
  { store, environment }: { readonly store: Store; readonly environment?: string | undefined },
): Promise<JsonObject | undefined> {
  if (plan.vars.length === 0) return undefined;
  if (spec.vars !== undefined) return spec.vars;
  try {
    return varsFor(plan.vars, await store.vars.of(environmentOf(spec, environment)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const { message } = error;
    const problem = { code: "input_invalid", message, pointer: "/vars" } as const;
    throw refuse("input_invalid", message, [{ ...problem, severity: "error" }]);
  }
}

/** A run that is repeated stays where it was, in all environments too. */
function environmentOf(spec: RunSpec, ofExecutor: string | undefined): string | undefined {
  return spec.retryOf === undefined ? (spec.environment ?? ofExecutor) : spec.environment;
}

/** Throws when nothing can be started, whatever it is. */
export function checkOpen({ condition }: Store, isClosing: boolean): void {
  if (isClosing) throw refuse("executor_unavailable", "the executor is closing");
  if (condition !== "ok") throw new StoreError(condition, "the store takes no new runs");
}

/** Throws for a run to retry that is not there. */
export async function checkRetried({ runs }: Store, { retryOf }: RunSpec): Promise<void> {
  if (retryOf !== undefined && (await runs.summary(retryOf)) === null) throwRunNotFound(retryOf);
}

/**
 * Looks at the ids of a start: throws for one that a run has, as its readers keep an ended run, so no other may take its place, not
 * even until the store refuses; and for a run to retry that is not there.
 */
export function createIdCheck({
  store,
  isLive,
}: {
  readonly store: Store;
  isLive(runId: string): boolean;
}): (spec: RunSpec) => Promise<void> {
  /** Ids of new runs that the store is asked about: such a run may begin and end meanwhile. */
  const checking = new Set<string>();
  return async (spec) => {
    const { runId } = spec;
    if (runId !== undefined) {
      if (checking.has(runId)) throw runExistsError(runId);
      checking.add(runId);
      try {
        const isKnown = (await store.runs.summary(runId)) !== null;
        if (isKnown || isLive(runId)) throw runExistsError(runId);
      } finally {
        checking.delete(runId);
      }
    }
    await checkRetried(store, spec);
  };
}

/** How the engine starts or takes up a run with this row. */
export function optionsOf({ trigger, template, tags, options = {} }: RunHeader): RunOptions {
  const { timeoutMs, onFailure, concurrency, confirm, vars, environment } = options;
  const answer = confirm && (() => ({ decision: confirm, by: "run-option" }));
  return {
    trigger: trigger as Trigger,
    template,
    tags,
    timeoutMs,
    onFailure,
    concurrency,
    confirm: answer,
    vars,
    environment,
  };
}

/** Lease of a run in the queue. One process has the store, so the time does not matter. */
const QUEUE_LEASE_MS = 30_000;

export interface LiveStart {
  readonly header: RunHeader;
  readonly plan: Plan;
  readonly lastSeq: number;
  readonly state: RunState;
}

export interface TakeUpParts {
  readonly engine: Engine;
  readonly store: Store;
  compile(header: RunHeader): ReturnType<typeof compileFlow>;
  add(start: LiveStart): LiveRun;
  now(): number;
}

/**
 * Takes a run up. One without an event has its row leased and waits; any other is in the engine when it resolves. Rejects, with
 * a sentence for people, when it cannot go on.
 */
export async function takeUp(run: RunSummary, parts: TakeUpParts): Promise<LiveRun> {
  const { engine, store } = parts;
  const { runId, lastSeq } = run;
  const header = await store.runs.header(runId);
  if (header === null) throw runNotLocalError(runId);
  const plan = await planOf(header, parts.compile);
  const live = parts.add({ header, plan, lastSeq, state: run.status });
  if (lastSeq > 0) {
    live.enter(await engine.resume(runId, { plan, ...optionsOf(header) }));
    return live;
  }
  live.isQueued = true;
  const owner = createRunId(parts.now(), Math.random);
  const lease = await store.journal.lease(runId, owner, QUEUE_LEASE_MS);
  if (lease === null) throw runNotLocalError(runId);
  live.commit(lease.epoch);
  return live;
}

/** The plan of a new run. Throws `ExecutorError` `flow_invalid`. */
export async function planOfStart(plans: Plans, { graph }: RunSpec): Promise<Plan> {
  const compiled = await plans.ofStart(graph);
  if (compiled.ok) return compiled.plan;
  throw refuse("flow_invalid", "the flow is not valid", compiled.diagnostics);
}

/** The plan that the run was started with: a run never goes on with an edited flow. */
export async function planOf(header: RunHeader, compile: TakeUpParts["compile"]): Promise<Plan> {
  const compiled = await compile(header);
  if (!compiled.ok) {
    const first = compiled.diagnostics.find(({ severity }) => severity === "error");
    throw new Error(`the flow no longer compiles: ${first?.message ?? "it has errors"}`);
  }
  if (compiled.plan.digest === header.planDigest) return compiled.plan;
  throw new Error("the flow, or a flow in it, is not the one that the run was started with");
}

/** Does `work` for each of `items`, in their order, at most `size` at a time. Rejects with the first rejection. */
export async function inPool<T>(
  size: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: size }, worker));
}
