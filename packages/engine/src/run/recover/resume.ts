/** Taking up an interrupted run: same id, same log, `seq` goes on, no event twice. */

import {
  type CancelReason,
  createRunId,
  type Journal,
  type Json,
  type JsonObject,
  type ResumeState,
} from "@millrace/contracts";
import type { Plan } from "../../compile/plan.ts";
import type { EngineCore } from "../../engine-core.ts";
import { EngineError } from "../../errors.ts";
import { failureOf } from "../../failures.ts";
import type { ResumeOptions, RunOptions } from "../../options.ts";
import { readSecrets } from "../capabilities.ts";
import { emitPaused, emitResumed } from "../emit.ts";
import { endRun } from "../end.ts";
import { DEFAULTED, FAILED, Frame, isTerminal, SUCCEEDED } from "../frame.ts";
import { encode, JournalWriter, LEASE_MS } from "../journal.ts";
import {
  exclude,
  includedNodes,
  learnSecrets,
  listen,
  pinnedResults,
  startFresh,
} from "../launch.ts";
import { startClock } from "../pause.ts";
import { askAll } from "../people.ts";
import type { Scheduler } from "../schedule.ts";
import { RunCore, type Stop, USED_SECRETS } from "../state.ts";
import { endingOf } from "./give-up.ts";
import { type RecoveredRun, recoveredRun } from "./recovered-run.ts";
import { endRestoredBodies } from "./restore.ts";
import { type Again, type Reused, reusableResults } from "./reuse.ts";

const MAX_RECOVERIES = 5; // a run that only kills its process is not tried for ever

/**
 * Loads a run and lets it go on. Throws `EngineError`: `run_not_found`, `plan_mismatch`, `run_not_resumable` (it has ended, or
 * a live process has it).
 */
export async function resumeRunById(
  scheduler: Scheduler,
  runId: string,
  {
    plan,
    wakes = false,
    options,
  }: { plan: Plan; wakes?: ResumeOptions["wakes"]; options: RunOptions },
): Promise<RunCore> {
  const { runs, engine: core } = scheduler;
  const { journal } = core.options;
  const state = runs.has(runId) ? null : await journal?.load(runId);
  if (runs.has(runId)) throw notResumable(runId, "it is running here");
  if (journal === undefined || state === undefined || state === null) {
    throw notFound(runId);
  }
  if (state.planDigest !== plan.digest) {
    const text = `the run ${runId} was started with another flow; resume it with the flow it has`;
    throw new EngineError("plan_mismatch", text);
  }
  const recovered = recoveredRun(state);
  if (recovered.view.summary !== null) throw notResumable(runId, "it has ended");
  const owner = ownerOf(core);
  const lease = await journal.lease(runId, owner, LEASE_MS);
  if (lease === null) throw notResumable(runId, "another process has it");
  const { epoch } = lease;
  try {
    await core.options.keys?.resume(runId, openNodes(recovered));
    const gone = await readValues(journal, runId, recovered, state);
    const run = coreOf(scheduler, plan, state, options);
    const earlier = await earlierOf(core, state);
    run.reused = earlier?.reused(plan, state.inputs as JsonObject, state.options ?? {}) ?? null;
    if (recovered.view.seq === 0) run.resumedFrom = earlier?.resumedFrom ?? null;
    if (options.pins !== undefined) run.reused = pinnedResults(run.parts.layout, options.pins);
    run.isWoken = wakes && recovered.isAsleep;
    run.journal = new JournalWriter(journal, run, { owner, epoch, stored: recovered.view.seq });
    runs.set(runId, run);
    learnSecrets(run);
    for (const secret of [...secretsOf(state), ...(earlier?.secrets ?? [])]) run.learn(secret);
    await readSecrets(run); // before anybody has the run: it stands where it stood when it is handed out
    listen(run);
    queueMicrotask(() =>
      recovered.view.seq === 0 ? startFresh(run) : takeUp(run, recovered, gone),
    );
    return run;
  } catch (error) {
    await journal.release(runId, epoch).catch(() => {}); // another process could not give it up either
    throw error;
  }
}

/** Paths of the nodes that had started and have not ended. */
function openNodes({ nodes }: RecoveredRun): string[] {
  return [...nodes].flatMap(([path, { state }]) => (isTerminal(state) ? [] : [path]));
}

/** Ends a run whose flow cannot be run. Throws as `resumeRunById` does, but for `plan_mismatch`. */
export async function giveUpRun(
  { runs, engine: core }: Scheduler,
  runId: string,
  message: string,
): Promise<void> {
  const { journal } = core.options;
  if (runs.has(runId)) throw notResumable(runId, "it is running here");
  const state = await journal?.load(runId, { private: false }); // that they do not open may be why it is given up
  if (journal === undefined || state === undefined || state === null) throw notFound(runId);
  if (state.events.at(-1)?.kind === "summary") throw notResumable(runId, "it has ended");
  const lease = await journal.lease(runId, ownerOf(core), LEASE_MS);
  if (lease === null) throw notResumable(runId, "another process has it");
  const { epoch } = lease;
  const error = failureOf("resume_impossible", message, { reason: "internal" }).info;
  const ending = encode(endingOf(state, { error, now: core.host.now() }));
  await journal.append(runId, state.events.length, ending, { epoch, sync: true });
  await journal.release(runId, epoch);
}

/** Results that a rerun takes over, and the earlier inputs where no others are given. */
export interface RerunFrom {
  readonly inputs: JsonObject;
  readonly resumedFrom: { readonly runId: string; readonly seq: number };
  /** Credentials that its results may quote. */
  readonly secrets: readonly string[];
  reused(plan: Plan, inputs: JsonObject, again: Again): Reused;
}

/** Reads a run that another one starts from. Throws `EngineError` `run_not_found`. */
export async function readEarlier(core: EngineCore, runId: string): Promise<RerunFrom> {
  const { journal } = core.options;
  const state = await journal?.load(runId);
  if (journal === undefined || state === undefined || state === null) throw notFound(runId);
  const recovered = recoveredRun(state);
  await readValues(journal, runId, recovered, state);
  const { graph, planDigest } = state;
  const earlier = { graph, planDigest, recovered, inputs: state.inputs as JsonObject };
  return {
    inputs: earlier.inputs,
    resumedFrom: { runId, seq: recovered.view.seq },
    secrets: secretsOf(state),
    reused: (plan, inputs, again) =>
      reusableResults(earlier, { plan, inputs, ...again }, core.host),
  };
}

/** The run that this one repeats; null: none, or it is gone. */
async function earlierOf(core: EngineCore, { retryOf }: ResumeState): Promise<RerunFrom | null> {
  if (retryOf === undefined) return null;
  try {
    return await readEarlier(core, retryOf);
  } catch (error) {
    if (EngineError.isInstance(error) && error.code === "run_not_found") return null;
    throw error;
  }
}

function secretsOf({ privateValues }: ResumeState): readonly string[] {
  const kept = privateValues[USED_SECRETS];
  return Array.isArray(kept) ? kept.map(String) : [];
}

function notFound(runId: string): EngineError {
  return new EngineError("run_not_found", `there is no run ${runId} in the journal`);
}

/** A name among the owners of runs that no other process has. */
function ownerOf({ host }: EngineCore): string {
  return createRunId(host.now(), host.random);
}

function notResumable(runId: string, why: string): EngineError {
  return new EngineError("run_not_resumable", `the run ${runId} cannot be resumed: ${why}`);
}

function coreOf(
  scheduler: Scheduler,
  plan: Plan,
  state: ResumeState,
  options: RunOptions,
): RunCore {
  const inputs = Object.freeze(state.inputs) as { readonly [name: string]: Json };
  const more = {
    ...options,
    trigger: state.trigger as NonNullable<RunOptions["trigger"]>,
    ...(state.template !== undefined && { template: state.template }),
    ...(state.tags !== undefined && { tags: state.tags }),
    vars: state.options?.vars,
    environment: state.options?.environment,
  };
  const inputsDigest = scheduler.engine.inputsDigest(inputs);
  return new RunCore(scheduler, plan, { id: state.runId, inputs, inputsDigest, options: more });
}

/**
 * Outputs that are not on their events: beside the log, or private because the log shows them redacted. Answers the path of
 * one that is gone; such a node counts as one that has not succeeded.
 */
async function readValues(
  journal: Journal,
  runId: string,
  recovered: RecoveredRun,
  state: ResumeState,
): Promise<string | null> {
  let gone: string | null = null;
  const hides = Object.keys(state.privateValues).length > 0;
  for (const [path, node] of recovered.nodes) {
    if (node.state !== SUCCEEDED && node.state !== DEFAULTED) continue;
    const hidden = hides ? state.privateValues[`${path}#${node.attempt}`] : undefined;
    if (hidden !== undefined) node.output = hidden;
    else if (node.ref !== null) {
      const value = await journal.getValue(runId, node.ref);
      if (value === undefined) {
        node.state = FAILED;
        gone = path;
      } else node.output = value;
    }
  }
  return gone;
}

function takeUp(run: RunCore, recovered: RecoveredRun, gone: string | null): void {
  if (run.state === "over") return; // left before it went on
  const { view } = recovered;
  run.state = "running";
  run.recovered = recovered;
  run.tick();
  run.now = Math.max(run.now, view.updatedAt);
  run.startedAt = view.startedAt ?? 0;
  const sleptMs = run.isWoken ? run.now - view.updatedAt : 0;
  run.clockLeftMs = Math.max(0, run.clockLeftMs - recovered.usedMs - sleptMs);
  run.executions = recovered.executions;
  run.confirmationCount = recovered.confirmationCount;
  Object.assign(run.counts, view.counts);
  run.bodyCounts = { ...view.bodyCounts };
  const { calls: taken, reserved } = recovered;
  if (taken.size + reserved.size > 0) run.calls.continueFrom(view, { taken, reserved });
  run.log.continueFrom(view);
  const stop = stopOf(run, recovered, gone);
  run.ending = stop !== null;
  announce(run, recovered);
  run.pumping = true; // bodies are entered before everything stands where it stood
  const top = new Frame(run.parts.layout, { id: 0, base: "", depth: 0 }, { inputs: run.inputs });
  run.frames = [top];
  exclude(top, includedNodes(run.parts.layout, run.options.only));
  run.loop.seed(run, top);
  endRestoredBodies(run, top);
  run.pumping = false;
  if (stop !== null) endRun(run, stop);
  else if (run.paused !== "confirmation") startClock(run);
  run.pump();
  askAll(run);
}

/** Emits the events about the interruption. A run that was waiting, paused or being cancelled emits none. */
function announce(run: RunCore, { view, answeredBy }: RecoveredRun): void {
  const { paused, state, confirmations } = view;
  if (state === "cancelling") return;
  const reason = paused?.reason;
  if (answeredBy !== null) emitResumed(run, "confirmation", answeredBy);
  else if (reason === "confirmation" || reason === "operator") {
    run.paused = reason;
    return;
  }
  if (run.isWoken) return;
  const open = [...confirmations.values()].filter((one) => one.state === "requested");
  if (reason !== "interrupted")
    emitPaused(
      run,
      "interrupted",
      open.map(({ id }) => id),
    );
  emitResumed(run, "recovered");
}

/** Why the run does not go on but only ends; null: it goes on. */
function stopOf(run: RunCore, recovered: RecoveredRun, gone: string | null): Stop | null {
  const { view } = recovered;
  if (view.state === "cancelling") {
    return { reason: "run_cancelled", cancel: (view.cancelReason ?? "user") as CancelReason };
  }
  if (gone !== null) {
    const text = `the output of ${gone} is gone from the journal`;
    run.failure = failureOf("resume_impossible", text, { reason: "internal" }).info;
    return { reason: "run_failed", cancel: null };
  }
  if (recovered.recoveries >= MAX_RECOVERIES) {
    const text = `the run was interrupted ${recovered.recoveries} times without getting on`;
    run.failure = failureOf("crash_loop", text, { reason: "internal" }).info;
    return { reason: "run_failed", cancel: null };
  }
  const failed = [...recovered.nodes].some(
    ([path, { state }]) => state === FAILED && !path.includes("/"),
  );
  return failed && run.onFailure === "stop" ? { reason: "run_failed", cancel: null } : null;
}
