/**
 * Runs flows on any number of servers with one store. The store is the truth about every run; a dispatcher says which server
 * drives it, and knows nothing else of it.
 *   S1  A run whose start was answered is in the store with its bell set: a ring that is lost is made up for.
 *   S2  A run that waits for people, or for a time that is not near, is at work nowhere: it is left, and driven again when it is rung.
 *   S3  What people say to a run that another server drives is a row in the inbox, which its driver obeys and answers.
 *   S4  A reader gets the same bytes at every server, and an event only after the store has it.
 */
import {
  Again,
  type CancelOptions,
  createRunId,
  type Dispatcher,
  type DriveOptions,
  type DriveResult,
  type Executor,
  type Page,
  type RecoveryReport,
  type Run,
  type RunQuery,
  type RunRef,
  type RunSignal,
  type RunSpec,
  type RunSummary,
  type SignalResult,
  type StartRows,
  type StoredEvent,
} from "@millrace/contracts";
import { UnorderedMap } from "@millrace/contracts/kit";
import { checkOptions } from "@millrace/contracts/options";
import { type Engine, EngineError } from "@millrace/engine";
import { type SharedStore, StoreError } from "@millrace/store";
import { refuse, refusedStart, runEndedError, throwRunNotFound } from "./errors.ts";
import { type FollowedLog, FollowedLogs } from "./followed-logs.ts";
import { askDriver, cancelRun, cancelUnstarted, ifGone, obey } from "./inbox.ts";
import { LiveRun } from "./live-runs.ts";
import { resolveOptions, SHARED_OPTIONS, type SharedExecutorOptions } from "./options.ts";
import type { Plans } from "./plans.ts";
import {
  checkOpen,
  checkRetried,
  headerOf,
  optionsOf,
  planOf,
  planOfStart,
  varsOf,
} from "./run-header.ts";
import { isAsking, signalRun } from "./signal-run.ts";
import { startSweep } from "./sweep.ts";
import { Takeovers } from "./takeovers.ts";

/** A run that goes on by itself sooner than this stays: to leave it and to take it up costs several round trips. */
const NEAR_MS = 5_000;
/** Between two tries to give a run back. */
const AGAIN_MS = 1_000;
/** How long the number of waiting runs is remembered: a limit need not be exact to the run. */
const COUNT_MS = 1_000;
/** A server with other code may drive what this one cannot; after so many tries here nobody can. It is asked as often, by chance. */
const MAX_REFUSALS = 20;

/** The executor of one server of many. Takes ownership of engine and dispatcher: `close` closes them; the store stays open. */
export function createSharedExecutor(options: SharedExecutorOptions): Executor {
  checkOptions("createSharedExecutor", options, SHARED_OPTIONS);
  return new SharedExecutor(options);
}

class SharedExecutor implements Executor {
  readonly kind: Executor["kind"];
  readonly #engine: Engine;
  readonly #store: SharedStore;
  readonly #dispatcher: Dispatcher;
  readonly #environment: string | undefined;
  readonly #log: SharedExecutorOptions["log"];
  readonly #plans: Plans;
  readonly #maxLive: number;
  readonly #maxQueued: number;
  readonly #driven = new UnorderedMap<LiveRun>();
  readonly #followed: FollowedLogs;
  readonly #takeovers = new Takeovers((runId, options) => this.#drive(runId, options));
  readonly #refusals = new Map<string, number>();
  #queued = { count: 0, at: Number.NEGATIVE_INFINITY };
  #serving: Promise<void> | undefined;
  #endSweep: (() => void) | undefined;
  #graceMs = 0;
  #closed: Promise<void> | undefined;

  constructor(options: SharedExecutorOptions) {
    const { engine, store, dispatcher, log } = options;
    const { plans, maxLive, maxQueued } = resolveOptions(options);
    this.kind = options.kind;
    this.#engine = engine;
    this.#store = store;
    this.#environment = options.environment;
    this.#dispatcher = dispatcher;
    this.#log = log;
    this.#followed = new FollowedLogs(store);
    this.#plans = plans;
    this.#maxLive = maxLive;
    this.#maxQueued = maxQueued;
  }

  async start(spec: RunSpec, rows: StartRows = {}): Promise<RunRef> {
    const plan = await planOfStart(this.#plans, spec);
    checkOpen(this.#store, this.#closed !== undefined);
    const runId = spec.runId ?? createRunId(this.#store.now(), Math.random);
    const environment = this.#environment;
    const vars = await varsOf(spec, plan, { store: this.#store, environment });
    const header = headerOf({ spec, plan, runId, vars, environment }, this.#engine);
    const { journal } = this.#store;
    await checkRetried(this.#store, spec);
    const waiting = await this.#waiting();
    if (waiting >= this.#maxQueued) throw refuse("too_many_runs", `${waiting} runs are waiting`);
    try {
      await journal.create(header, rows, { isFree: true });
    } catch (error) {
      throw refusedStart(error, runId);
    }
    this.#ring(runId);
    return { runId, status: "pending" };
  }

  async signal(runId: string, signal: RunSignal): Promise<SignalResult> {
    await this.#driven.get(runId)?.entered();
    const run = await this.#store.runs.summary(runId);
    const live = this.#driven.get(runId);
    const isElsewhere = live?.run === undefined && run !== null && run.endedAt === null;
    const here = (): Promise<SignalResult> =>
      signalRun({ runId, live, store: this.#store }, signal);
    const there = async (): Promise<SignalResult> =>
      (await this.#ask(runId, { signal })) as SignalResult;
    return isElsewhere ? there() : here().catch(ifGone(there));
  }

  async cancel(runId: string, options: CancelOptions): Promise<Run> {
    await this.#driven.get(runId)?.entered();
    const run = (await this.#store.runs.summary(runId)) ?? throwRunNotFound(runId);
    if (run.endedAt !== null) throw runEndedError(run.status);
    const live = this.#driven.get(runId);
    const there = (): Promise<unknown> => this.#ask(runId, { cancel: options });
    if (live?.run === undefined) await there();
    else await cancelRun(live, options).catch(ifGone(there));
    return (await this.get(runId)) ?? throwRunNotFound(runId);
  }

  async *attach(
    runId: string,
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly StoredEvent[], void> {
    const { after = 0, signal } = options;
    for (let at = after, isOver = false; !isOver && !signal?.aborted; ) {
      const live = this.#driven.get(runId);
      const followed = live === undefined ? await this.#followed.open(runId) : undefined;
      const { log } = live ?? (followed as FollowedLog);
      try {
        for await (const page of log.read(at, signal)) {
          yield page;
          at = page.at(-1)?.seq ?? at;
          isOver = page.at(-1)?.kind === "summary";
        }
      } finally {
        followed?.close();
      }
      // A log that is driven here may end because the run goes to another server.
      isOver ||= live === undefined;
    }
  }

  async get(runId: string): Promise<Run | null> {
    return this.#store.runs.get(runId);
  }

  async list(query: RunQuery): Promise<Page<RunSummary>> {
    return this.#store.runs.list(query);
  }

  /** Takes calls from now on. Runs that others have left are rung by the sweep. */
  async recover(): Promise<RecoveryReport> {
    const startedAt = performance.now();
    this.#serving ??= this.#dispatcher.serve((runId, options) =>
      this.#takeovers.call(runId, options),
    );
    await this.#serving;
    this.#endSweep ??= startSweep({
      bells: this.#store.bells,
      room: () => this.#maxLive - this.#driven.size,
      dispatcher: this.#dispatcher,
      ring: (runId) => this.#ring(runId),
      takeOver: (runId) => void this.#takeOver(runId),
      ...(this.#log && { log: this.#log }),
    });
    return { resumed: 0, parked: 0, failed: 0, ms: Math.round(performance.now() - startedAt) };
  }

  close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  /** Runs that are driven here go to other servers; steps whose repetition may do harm have the grace to end. */
  async #close(graceMs: number): Promise<void> {
    this.#endSweep?.();
    this.#graceMs = graceMs;
    await Promise.all([this.#dispatcher.close({ graceMs: 0 }), this.#takeovers.close()]);
    await this.#engine.close({ leave: true, graceMs: 0 });
  }

  /** Number of runs without a driver, cached for `COUNT_MS`. */
  async #waiting(): Promise<number> {
    const now = performance.now();
    if (now - this.#queued.at > COUNT_MS) {
      this.#queued = { count: await this.#store.bells.waiting(), at: now };
    }
    return this.#queued.count;
  }

  /** Never rejects: the bell in the store stays, and is rung once more when it is late. */
  #ring(runId: string): void {
    this.#dispatcher.ring(runId).catch((error: unknown) => {
      this.#log?.warn({ runId, err: error }, "run.not_rung");
    });
  }

  /** Never rejects. */
  async #takeOver(runId: string): Promise<void> {
    try {
      const result = (await this.#takeovers.take(runId)) ?? "done";
      if (result !== "done") await this.#dispatcher.ring(runId, { delayMs: result.again });
    } catch (error) {
      this.#log?.warn({ runId, err: error }, "run.not_taken_over");
    }
  }

  /** Asks the server that drives the run. Throws `executor_unavailable` when no answer comes. */
  #ask(runId: string, request: Parameters<typeof askDriver>[1]["request"]): Promise<unknown> {
    return askDriver(this.#store, { runId, request, ring: () => this.#ring(runId) });
  }

  async #drive(runId: string, options: DriveOptions): Promise<DriveResult> {
    const run = await this.#store.runs.summary(runId);
    if (run === null) return "done";
    if (run.endedAt !== null) {
      await obey(this.#store, { runId, live: undefined });
      return "done";
    }
    const live = await this.#enter(run);
    if (live === undefined) {
      await obey(this.#store, { runId, live });
      return "done";
    }
    try {
      return await this.#stay(live, options);
    } finally {
      this.#forget(live);
      if (live.run?.state === "lost") this.#giveBack(runId);
    }
  }

  /** Never rejects: a store that refused an append may take this later. It changes nothing where another server has the run. */
  #giveBack(runId: string): void {
    if (this.#driven.has(runId) || this.#closed !== undefined) return;
    this.#store.bells.giveBack(runId).catch(() => {
      setTimeout(() => this.#giveBack(runId), AGAIN_MS).unref();
    });
  }

  /** From now on another server may drive it: requests to the run go through the inbox. */
  #forget(live: LiveRun): void {
    if (this.#driven.get(live.runId) === live) this.#driven.delete(live.runId);
    live.end();
  }

  /** Stays with a run until it has ended, rests, or is to be left. */
  async #stay(live: LiveRun, { signal }: DriveOptions): Promise<DriveResult> {
    const { run } = live;
    if (run === undefined) throw new Again();
    // One that waits for people is left again at once, unless somebody has said something.
    await obey(this.#store, { runId: live.runId, live });
    const stop = new AbortController();
    const obeying = this.#store.inbox.obeyUntil(stop.signal, {
      runId: live.runId,
      obey: () => obey(this.#store, { runId: live.runId, live }),
    });
    let leave = (): void => {};
    const left = new Promise<"left">((resolve) => {
      leave = () => resolve("left");
    });
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave);
    const ended = run.result.then(() => "ended" as const);
    ended.catch(() => {}); // it is awaited below, if anything but a leave ends it
    try {
      for (;;) {
        const parked = live.until(() => this.#rests(live)).then(() => "parked" as const);
        const why = await Promise.race([ended, left, parked]);
        if (why === "left") {
          await run.leave({ graceMs: this.#graceMs });
          throw new Again("this server stops");
        }
        if (why === "ended" || live.log.ended) {
          await ended;
          return "done";
        }
        if (this.#rests(live)) return await this.#park(live);
      }
    } catch (error) {
      if (EngineError.isInstance(error)) throw new Again(error.message);
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
      stop.abort();
      await obeying;
    }
  }

  /** Whether a run waits for people alone, in the engine and in its log, or for nothing that is near. */
  #rests(live: LiveRun): boolean {
    const due = live.run?.restsUntil ?? null;
    if (due === null) return false;
    if (live.run?.paused !== null && live.run?.paused !== live.pauseReason) return false;
    return isAsking(live) || due - this.#store.now() > NEAR_MS;
  }

  /** Leaves a run that rests, until it goes on by itself. Nothing happens in it between the check and the leave. */
  async #park(live: LiveRun): Promise<DriveResult> {
    const { runId, run } = live;
    const due = run?.restsUntil ?? 0;
    const bellAt = Number.isFinite(due) ? due : null;
    this.#forget(live);
    await run?.leave();
    await this.#store.bells.set(runId, bellAt);
    return bellAt === null ? "done" : { again: Math.max(0, bellAt - this.#store.now()) };
  }

  /** Takes a run up; undefined: it has ended with that. Throws `Again` when another server shall. */
  async #enter(run: RunSummary): Promise<LiveRun | undefined> {
    const { runId, lastSeq } = run;
    const store = this.#store;
    try {
      const header = await store.runs.header(runId);
      if (header === null) return undefined;
      if (lastSeq === 0 && (await cancelUnstarted(store, runId))) return undefined;
      const plan = await planOf(header, (one) => this.#plans.ofRun(one));
      const { journal } = store;
      if (this.#driven.has(runId)) throw new Again("this server drives the run already");
      if (this.#driven.size >= this.#maxLive) throw new Again("this server is busy");
      const live = new LiveRun({ header, plan, journal, lastSeq, state: run.status, onState() {} });
      this.#driven.set(runId, live);
      const options = { plan, wakes: true, ...optionsOf(header) };
      live.enter(await this.#engine.resume(runId, options));
      this.#refusals.delete(runId);
      return live;
    } catch (error) {
      if (Again.isInstance(error)) throw error;
      const live = this.#driven.get(runId);
      if (live !== undefined) this.#forget(live);
      return await this.#refuse(runId, error);
    }
  }

  /** A run that cannot be taken up here goes to another server; when no server can take it, it ends. */
  async #refuse(runId: string, error: unknown): Promise<undefined> {
    if (StoreError.isInstance(error)) throw error;
    if (EngineError.isInstance(error) && error.code !== "plan_mismatch") {
      throw new Again(error.message);
    }
    const count = (this.#refusals.get(runId) ?? 0) + 1;
    this.#refusals.set(runId, count);
    const text = error instanceof Error ? error.message : "the run cannot be taken up";
    this.#log?.warn({ runId, err: error, count }, "run.refused");
    if (count < MAX_REFUSALS) throw new Again(text);
    this.#refusals.delete(runId);
    await this.#engine.giveUp(runId, text);
    return undefined;
  }
}
