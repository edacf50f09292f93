/** An engine: runs plans on one host, with one set of ports and limits. */
import {
  createRunId,
  type Diagnostic,
  type Json,
  type JsonObject,
  type RunHeader,
} from "@millrace/contracts";
import { type Plan, partsOf } from "./compile/plan.ts";
import { EngineCore } from "./engine-core.ts";
import { EngineError } from "./errors.ts";
import { checkInputs } from "./inputs.ts";
import type { CloseOptions, EngineOptions, ResumeOptions, RunOptions } from "./options.ts";
import {
  checkCloseOptions,
  checkEngineOptions,
  checkPlan,
  checkResumeOptions,
  checkRunOptions,
} from "./options-check.ts";
import { cancelRun, leaveRun } from "./run/end-run.ts";
import { headerOf } from "./run/journal.ts";
import { includedNodes, launch, pinnedResults } from "./run/launch.ts";
import {
  type CompileRun,
  type Recovered,
  type RunsOfStore,
  recoverRuns,
} from "./run/recover/recover-runs.ts";
import { type Run, RunHandle } from "./run/run.ts";
import { Scheduler } from "./run/schedule.ts";
import { RunCore } from "./run/state.ts";
import { sizeOf } from "./values.ts";

declare global {
  /** As in `ESNext.Disposable`, which a project for browsers seldom names. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** Runs plans on one host, with one set of ports, policies and limits; many runs at once. */
export interface Engine {
  /**
   * Starts a run; its first event comes with the next microtask, so a caller may listen first. Throws `EngineError` `input_invalid` (with `diagnostics`), `run_exists`,
   * `engine_closed`, before any event.
   */
  run(plan: Plan, inputs?: { readonly [name: string]: unknown }, options?: RunOptions): Run;
  /**
   * Takes up a run whose process died: same id, its log goes on, no event is repeated, and no node that has ended runs again.
   * Throws `EngineError` `run_not_found`, `plan_mismatch`, `run_not_resumable` (it has ended, or a live process has it).
   */
  resume(
    runId: string,
    options: { readonly plan: Plan } & ResumeOptions & RunOptions,
  ): Promise<Run>;
  /**
   * Starts a new run that takes over what an earlier one has done: nodes that are what they were, read what they read and had
   * succeeded. `from`: nodes that run again with all that follows them; default: those that had not succeeded. `inputs`:
   * default the earlier ones. Throws `EngineError` `run_not_found` and what `run` throws.
   */
  rerun(runId: string, options: RerunOptions): Promise<Run>;
  /** The problems of inputs for a plan; empty when they are valid. */
  checkInputs(plan: Plan, inputs: unknown): Diagnostic[];
  /**
   * What the journal is to know of a run that is to be started with these inputs, defaults filled in: for who creates the run in
   * the journal and starts it later, with `RunOptions.created`. Throws what `run` throws.
   */
  header(
    plan: Plan,
    inputs: { readonly [name: string]: unknown },
    options: RunOptions & { readonly runId: string },
  ): RunHeader;
  /**
   * Ends an interrupted run that cannot be taken up, because its flow no longer compiles or is another one: what is open is
   * closed, nodes at work fail with code `resume_impossible` and `message`, and so does the run. One that was being cancelled is
   * cancelled. Throws `EngineError` `run_not_found`, `run_not_resumable`.
   */
  giveUp(runId: string, message: string): Promise<void>;
  /**
   * Takes up every run of a store that has not ended: for the start of a program, before it starts runs of its own. `compile`
   * gives the plan of the flow that a run was started with. A run whose flow no longer compiles, or is another one, is ended with
   * `resume_impossible`; what is in the way of the journal or of `compile` itself is thrown.
   */
  recover(store: RunsOfStore, compile: CompileRun, options?: RunOptions): Promise<Recovered>;
  /**
   * Cancels every run with reason `shutdown` and waits for their ends. With `leave` runs are not ended but stopped where they
   * are, and their `result` rejects with `engine_closed`: nothing starts, steps whose repetition may do harm have `graceMs`
   * (default 0) to end, all others are stopped at once and repeated by `resume`. Ends the programs that steps have started. May be
   * called again.
   */
  close(options?: CloseOptions): Promise<void>;
  /** The value with `[redacted]` in the place of every credential that a run of this engine was given; the same value when there is none. */
  mask<T extends Json>(value: T): T;
  /** `close()`, for `await using engine = createEngine()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const NO_OPTIONS: RunOptions = Object.freeze({});

/** How a run is tried again. */
export interface RerunOptions extends RunOptions {
  readonly plan: Plan;
  readonly from?: readonly string[] | undefined;
  /** Also the failed items of a `map` that collected its errors (`@on-error = "collect"`), and nothing else of it. */
  readonly failedItems?: true | undefined;
  readonly inputs?: { readonly [name: string]: unknown } | undefined;
}

/**
 * An engine. Without options: portable host, no journal, no files, public network addresses where the host has a network.
 * Throws `EngineError` `input_invalid` for an option that is not what it must be.
 */
export function createEngine(options: EngineOptions = {}): Engine {
  checkEngineOptions(options);
  const scheduler = new Scheduler(new EngineCore(options));
  const { engine: core, runs } = scheduler;
  const engine: Engine = {
    run(
      plan: Plan,
      inputs: { readonly [name: string]: unknown } = {},
      more: RunOptions = NO_OPTIONS,
    ) {
      const run = prepare(scheduler, plan, inputs, more);
      runs.set(run.id, run);
      launch(run);
      return new RunHandle(run);
    },
    async resume(runId: string, options: { readonly plan: Plan } & ResumeOptions & RunOptions) {
      if (core.closed) throw new EngineError("engine_closed", "the engine is closed");
      checkPlan(options?.plan);
      const { plan, wakes, ...more } = options;
      checkResumeOptions({ wakes });
      checkRunOptions(more);
      const { resumeRunById } = await import("./run/recover/resume.ts");
      return new RunHandle(await resumeRunById(scheduler, runId, { plan, wakes, options: more }));
    },
    async rerun(runId: string, options: RerunOptions) {
      if (core.closed) throw new EngineError("engine_closed", "the engine is closed");
      checkPlan(options?.plan);
      const { plan, from, failedItems, inputs, ...more } = options;
      checkRunOptions(more);
      const { readEarlier } = await import("./run/recover/resume.ts");
      const earlier = await readEarlier(core, runId);
      const unknown = from?.find((id) => plan.catalogEntry(id) === undefined);
      if (unknown !== undefined) {
        throw new EngineError("input_invalid", `options.from names the unknown node "${unknown}"`);
      }
      const run = prepare(scheduler, plan, inputs ?? earlier.inputs, more);
      run.resumedFrom = earlier.resumedFrom;
      const { reused: pinned } = run;
      // What follows a pin may read something new.
      const again = from ?? [];
      const changed = pinned === null ? again : [...again, ...pinned.keys()];
      const kept = earlier.reused(plan, run.inputs, { from: changed, failedItems });
      run.reused = pinned === null ? kept : new Map([...kept, ...pinned]);
      runs.set(run.id, run);
      launch(run);
      for (const secret of earlier.secrets) run.learn(secret);
      return new RunHandle(run);
    },
    checkInputs(plan: Plan, inputs: unknown) {
      checkPlan(plan);
      return [...problemsOf(core, plan, inputs).problems];
    },
    header(
      plan: Plan,
      inputs: { readonly [name: string]: unknown },
      options: RunOptions & { readonly runId: string },
    ) {
      const start = checkStart(scheduler, plan, inputs, options);
      return headerOf(plan, { runId: start.id, inputs: start.inputs, options });
    },
    async giveUp(runId: string, message: string) {
      const { giveUpRun } = await import("./run/recover/resume.ts");
      await giveUpRun(scheduler, runId, message);
    },
    async recover(store: RunsOfStore, compile: CompileRun, more: RunOptions = {}) {
      return recoverRuns(engine, store, compile, more);
    },
    mask: (value) => core.secrets.clean(value),
    async close(options: CloseOptions = {}) {
      checkCloseOptions(options);
      const { graceMs, leave = false } = options;
      core.closed = true;
      const open = runs.values();
      if (leave) {
        const error = new EngineError("engine_closed", "the engine was closed and left its runs");
        await Promise.all(open.map((run) => leaveRun(run, error, graceMs)));
      } else {
        for (const run of open) {
          cancelRun(run, { reason: "shutdown", ...(graceMs !== undefined && { graceMs }) });
        }
        await Promise.allSettled(open.map((run) => run.finished));
      }
      scheduler.unwatch();
      await core.shell?.close?.();
    },
    [Symbol.asyncDispose]: () => engine.close(),
  };
  return Object.freeze(engine);
}

function prepare(
  scheduler: Scheduler,
  plan: Plan,
  given: { readonly [name: string]: unknown },
  options: RunOptions,
): RunCore {
  const { id, inputs } = checkStart(scheduler, plan, given, options);
  const inputsDigest = scheduler.engine.inputsDigest(inputs);
  const run = new RunCore(scheduler, plan, { id, inputs, inputsDigest, options });
  if (options.pins !== undefined) run.reused = pinnedResults(run.parts.layout, options.pins);
  return run;
}

/** The id of a new run and its inputs, defaults filled in. Throws what `Engine.run` throws. */
function checkStart(
  { engine: core, runs }: Scheduler,
  plan: Plan,
  given: { readonly [name: string]: unknown },
  options: RunOptions,
): { readonly id: string; readonly inputs: JsonObject } {
  if (core.closed) throw new EngineError("engine_closed", "the engine is closed");
  checkPlan(plan);
  checkRunOptions(options);
  const { inputs, problems } = problemsOf(core, plan, given);
  if (problems.length > 0) {
    const text = problems.map(({ message }) => message).join("; ");
    throw new EngineError("input_invalid", text, { diagnostics: problems });
  }
  includedNodes(partsOf(plan).layout, options.only);
  const id = options.runId ?? createRunId(core.host.now(), core.host.random);
  if (runs.has(id)) throw new EngineError("run_exists", `the run ${id} exists already`);
  return { id, inputs };
}

function problemsOf(core: EngineCore, plan: Plan, inputs: unknown): ReturnType<typeof checkInputs> {
  const checked = checkInputs(partsOf(plan).graph.inputs, inputs);
  const bytes = sizeOf(checked.inputs);
  const most = core.limits.inputBytes;
  if (bytes <= most) return checked;
  const message = `limit inputBytes: the inputs have ${bytes} bytes, at most ${most}`;
  const problem = { code: "input_invalid", severity: "error", message, pointer: "" } as const;
  return { inputs: checked.inputs, problems: [...checked.problems, problem] };
}
