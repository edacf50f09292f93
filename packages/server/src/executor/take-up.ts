/** A run that another process has left: back into the queue, back to work, or to its end. */
import { createRunId, type RunHeader, type RunState, type RunSummary } from "@millrace/contracts";
import type { compileFlow, Engine, Plan } from "@millrace/engine";
import type { Store } from "@millrace/store";
import { runNotLocalError } from "./errors.ts";
import type { LiveRun } from "./live-runs.ts";
import { optionsOf } from "./run-header.ts";

/** Lease of a run in the queue. One process has the store, so the time does not matter. */
const QUEUE_LEASE_MS = 30_000;

/** A live run of an executor. */
export interface LiveStart {
  readonly header: RunHeader;
  readonly plan: Plan;
  readonly lastSeq: number;
  readonly state: RunState;
}

/** What taking up needs of its executor. */
export interface TakeUpParts {
  readonly engine: Engine;
  readonly store: Store;
  compile(header: RunHeader): ReturnType<typeof compileFlow>;
  /** Adds a live run. */
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
  const header = store.runs.header(runId);
  if (header === null) throw runNotLocalError(runId);
  const plan = await planOf(header, parts);
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

/** The plan that the run was started with: a run never goes on with an edited flow. */
async function planOf(header: RunHeader, { compile }: TakeUpParts): Promise<Plan> {
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
