/**
 * Runs flows in this process: an engine, a store, and a queue between them. The store is the truth about every run; here is
 * only what steers the live ones and wakes their readers.
 *   L1  A reader sees an event only after the store has it.
 *   L2  A run whose start was answered is in the store, and goes on when another process opens it.
 *   L3  A run that another process of this machine works on stays there: what people say to it is left in its inbox, and its log is read
 *       from the store.
 */
import {
  type CancelOptions,
  createRunId,
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
import { checkOptions } from "@millrace/contracts/options";
import { type Engine, EngineError } from "@millrace/engine";
import { type Store, StoreError } from "@millrace/store";
import {
  refuse,
  refusedStart,
  runEndedError,
  runExistsError,
  runNotLocalError,
  throwRunNotFound,
} from "./errors.ts";
import { type DriverRequest, obeyAll } from "./inbox.ts";
import { LiveRun, LiveRuns, writeUnstarted } from "./live-runs.ts";
import { LOCAL_OPTIONS, type LocalExecutorOptions, resolveOptions } from "./options.ts";
import { askOther, type Here, readOther } from "./other-process.ts";
import type { Plans } from "./plans.ts";
import {
  checkOpen,
  createIdCheck,
  headerOf,
  inPool,
  type LiveStart,
  optionsOf,
  planOfStart,
  takeUp,
  varsOf,
} from "./run-header.ts";
import { signalRun } from "./signal-run.ts";

/** Runs that are taken up at the same time: as many as a server runs at once. */
const RECOVERED_AT_ONCE = 64;

/** An executor in this process, whose runs can be taken up one by one. */
export interface LocalExecutor extends Executor {
  /**
   * Takes up one run that another process has left; one that is live here already is left as it is. Rejects with
   * `ExecutorError` `not_found`, `state_conflict` when it has ended, and with a sentence for people when it cannot go on here:
   * it stays as it is then.
   */
  takeUp(runId: string): Promise<void>;
}

/** The executor over an engine in this process. Takes ownership of the engine: `close` closes it; the store stays open. */
export function createLocalExecutor(options: LocalExecutorOptions): LocalExecutor {
  checkOptions("createLocalExecutor", options, LOCAL_OPTIONS);
  return new EngineExecutor(options);
}

class EngineExecutor implements LocalExecutor {
  readonly kind: Store["kind"];
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #options: LocalExecutorOptions & { readonly now: () => number };
  readonly #plans: Plans;
  readonly #maxQueued: number;
  readonly #live: LiveRuns;
  readonly #here: Here;
  readonly #taking = new Map<string, Promise<void>>();
  readonly #checkIds: (spec: RunSpec) => Promise<void>;
  #recovering = false;
  #closed: Promise<void> | undefined;

  constructor(options: LocalExecutorOptions) {
    const { plans, maxLive, maxQueued } = resolveOptions(options);
    const { engine, store } = options;
    this.kind = store.kind;
    this.#engine = engine;
    this.#store = store;
    this.#options = { now: Date.now, ...options };
    this.#plans = plans;
    this.#maxQueued = maxQueued;
    this.#live = new LiveRuns({ maxLive, launch: (live) => this.#launch(live) });
    this.#here = {
      store,
      isLive: (runId) => this.#live.has(runId),
      takeUp: (runId) => this.takeUp(runId),
    };
    this.#checkIds = createIdCheck(this.#here);
  }

  get recovering(): boolean {
    return this.#recovering;
  }

  async start(spec: RunSpec, rows: StartRows = {}): Promise<RunRef> {
    const plan = await planOfStart(this.#plans, spec);
    checkOpen(this.#store, this.#closed !== undefined);
    const runId = spec.runId ?? createRunId(this.#options.now(), Math.random);
    const isNew = spec.runId === undefined && spec.retryOf === undefined;
    if (!isNew) await this.#checkIds(spec);
    const { environment } = this.#options;
    const vars = plan.vars.length === 0 ? undefined : await varsOf(spec, plan, this.#options);
    // From here to the queue nothing is awaited: what was checked stays true.
    checkOpen(this.#store, this.#closed !== undefined);
    if (this.#live.has(runId)) throw runExistsError(runId);
    const header = headerOf({ spec, plan, runId, vars, environment }, this.#engine);
    const waits = !this.#live.hasPlace;
    const waiting = this.#live.waiting().length;
    if (waits && waiting >= this.#maxQueued) {
      throw refuse("too_many_runs", `${waiting} runs are waiting`);
    }
    const live = this.#add({ header, plan, lastSeq: 0, state: "pending" });
    if (waits) this.#live.enqueue(live);
    const { journal } = this.#store;
    // Nothing but the store can refuse it then. Its first events are stored with its row; bodies with effects wait for them.
    const isSure = isNew && !waits && Object.values(rows).every((row) => row === undefined);
    try {
      if (isSure) {
        const { epoch, stored } = journal.begin(header);
        live.commit(epoch);
        void this.#launch(live);
        await stored;
        return { runId, status: "pending" };
      }
      live.commit((await journal.create(header, rows)).epoch);
    } catch (error) {
      this.#live.remove(live);
      throw refusedStart(error, runId);
    }
    if (waits) this.#live.fill();
    else void this.#launch(live);
    return { runId, status: "pending" };
  }

  signal(runId: string, signal: RunSignal): Promise<SignalResult> {
    return this.#tell(runId, { signal }, () => this.#signalHere(runId, signal));
  }

  cancel(runId: string, options: CancelOptions): Promise<Run> {
    return this.#tell(runId, { cancel: options }, () => this.#cancelHere(runId, options));
  }

  /** Says something to a run, wherever it is: live here or ended, it is for `here`. */
  async #tell<T>(runId: string, request: DriverRequest, here: () => Promise<T>): Promise<T> {
    const answer = await askOther(this.#here, { runId, request });
    if (answer === undefined) return here();
    return (answer ?? (await this.get(runId))) as T;
  }

  async #signalHere(runId: string, signal: RunSignal): Promise<SignalResult> {
    const live = this.#live.get(runId);
    if (live !== undefined && !live.isQueued) await live.entered();
    return signalRun({ runId, live, store: this.#store }, signal);
  }

  async #cancelHere(runId: string, options: CancelOptions): Promise<Run> {
    const live = this.#live.get(runId);
    if (live === undefined || live.log.ended) {
      const run = (await this.#store.runs.summary(runId)) ?? throwRunNotFound(runId);
      throw run.endedAt === null ? runNotLocalError(runId) : runEndedError(run.status);
    }
    if (live.isQueued) await this.#drop(live);
    else {
      await live.entered();
      if (live.run?.cancel(options) === true) {
        await live.until(() => live.state === "cancelling");
      }
    }
    return (await this.get(runId)) ?? throwRunNotFound(runId);
  }

  attach(
    runId: string,
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncIterable<readonly StoredEvent[]> {
    const live = this.#live.get(runId);
    if (live === undefined) return this.#attachOther(runId, options);
    return live.log.read(options.after ?? 0, options.signal);
  }

  /** The log of a run that is not live here, or not yet. */
  async *#attachOther(
    runId: string,
    { after = 0, signal }: { readonly after?: number; readonly signal?: AbortSignal },
  ): AsyncGenerator<readonly StoredEvent[], void> {
    if ((await this.#store.runs.summary(runId)) === null) throwRunNotFound(runId);
    let at = after;
    for await (const page of readOther(this.#here, runId, { after, signal })) {
      yield page;
      at = page.at(-1)?.seq ?? at;
    }
    const live = this.#live.get(runId);
    if (live !== undefined && !signal?.aborted) yield* live.log.read(at, signal);
  }

  async get(runId: string): Promise<Run | null> {
    return this.#store.runs.get(runId);
  }

  async list(query: RunQuery): Promise<Page<RunSummary>> {
    return this.#store.runs.list(query);
  }

  async recover(): Promise<RecoveryReport> {
    const startedAt = performance.now();
    const report = { resumed: 0, parked: 0, failed: 0 };
    this.#recovering = true;
    try {
      const left = await this.#store.runs.live();
      const ids = left.filter((runId) => !this.#live.has(runId));
      const found = await Promise.all(ids.map((runId) => this.#store.runs.summary(runId)));
      const open = found.filter((run) => run !== null && run.endedAt === null) as RunSummary[];
      const queued = new Set(open.filter(({ lastSeq }) => lastSeq === 0));
      await inPool(RECOVERED_AT_ONCE, open, async (run) => {
        const became = await this.#takeUp(run);
        if (became !== "queued") report[became] += 1;
      });
      // In the order of their starts, whichever was taken first.
      for (const { runId } of queued) {
        const live = this.#live.get(runId);
        if (live !== undefined) this.#live.enqueue(live);
      }
      this.#live.fill();
    } finally {
      this.#recovering = false;
    }
    return { ...report, ms: Math.round(performance.now() - startedAt) };
  }

  takeUp(runId: string): Promise<void> {
    // Two callers at once share one takeover: a second one would take the run from the first.
    const taking =
      this.#taking.get(runId) ??
      this.#takeUpOne(runId).finally(() => void this.#taking.delete(runId));
    this.#taking.set(runId, taking);
    return taking;
  }

  async #takeUpOne(runId: string): Promise<void> {
    checkOpen(this.#store, this.#closed !== undefined);
    if (this.#live.has(runId)) return;
    const run = (await this.#store.runs.summary(runId)) ?? throwRunNotFound(runId);
    if (run.endedAt !== null) throw runEndedError(run.status);
    try {
      const live = await this.#enter(run);
      if (!live.isQueued) return;
      this.#live.enqueue(live);
      this.#live.fill();
    } catch (error) {
      this.#live.removeId(runId);
      throw error;
    }
  }

  close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#live.close();
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  /** Runs go on for a while; those that are still there are found by the next process as they are, if the store outlives this one. */
  async #close(graceMs: number): Promise<void> {
    const isLast = this.kind === "memory";
    if (isLast) await this.#endResting();
    const due = performance.now() + graceMs;
    await this.#live.settled(graceMs);
    const rest = Math.max(0, due - performance.now());
    await this.#engine.close(isLast ? { graceMs: 0 } : { leave: true, graceMs: rest });
    for (const live of this.#live.all()) this.#live.remove(live);
  }

  /** Ends the runs that wait for a place, or for requests that are no longer accepted. */
  async #endResting(): Promise<void> {
    await Promise.all(this.#live.waiting().map((live) => this.#drop(live)));
    for (const { state, run } of this.#live.all()) {
      if (state === "paused") run?.cancel({ reason: "shutdown" });
    }
  }

  #add(start: LiveStart): LiveRun {
    const { journal } = this.#store;
    const live = new LiveRun({ ...start, journal, onState: () => this.#live.fill() });
    this.#live.add(live);
    const { runId } = live;
    const { inbox } = this.#store;
    const perform = (request: DriverRequest) => this.#perform(runId, request);
    void inbox?.obeyUntil(live.gone, {
      runId,
      isNew: start.state === "pending",
      obey: () => obeyAll(inbox, { runId, perform }),
    });
    return live;
  }

  /** Does what another process has asked of a run that is live here. */
  #perform(runId: string, request: DriverRequest): Promise<unknown> {
    if ("signal" in request) return this.#signalHere(runId, request.signal);
    return this.#cancelHere(runId, request.cancel).then(() => null);
  }

  /** Begins a run whose row is there. Never rejects. */
  async #launch(live: LiveRun): Promise<void> {
    const { header, plan, epoch = 0 } = live;
    const { runId, retryOf, options } = header;
    const inputs = header.inputs as RunSpec["inputs"];
    const more = { ...optionsOf(header), runId, created: { epoch } };
    try {
      if (retryOf === undefined) live.enter(this.#engine.run(plan, inputs, more));
      else {
        const { from, failedItems } = options ?? {};
        const again = { ...more, plan, inputs, from, failedItems };
        live.enter(await this.#engine.rerun(retryOf, again));
      }
    } catch (error) {
      await this.#giveUp(live.runId, error, epoch);
    }
    this.#follow(live);
  }

  /** Keeps a run in the list until it has ended, or is lost. */
  #follow(live: LiveRun): void {
    const ended = (): void => {
      const isLeft = this.#closed !== undefined && live.run !== undefined;
      if (!isLeft || live.log.ended) this.#live.remove(live);
    };
    // When the journal fails, or another owner has the run, its log ends here where it is.
    if (live.run === undefined) ended();
    else live.run.result.then(ended, ended);
  }

  /**
   * Ends a run that cannot be started or taken up. A closed engine, or a store that is away, leaves it to the next process.
   * `epoch`: under which this process owns it.
   */
  async #giveUp(runId: string, error: unknown, epoch?: number): Promise<void> {
    this.#options.log?.error({ runId, err: error }, "run.not_taken_up");
    if (EngineError.isInstance(error) && error.code === "engine_closed") return;
    if (StoreError.isInstance(error) && error.retryable) return;
    const text = error instanceof Error ? error.message : "the run cannot be taken up";
    try {
      if (epoch !== undefined) await this.#store.journal.release(runId, epoch);
      await this.#engine.giveUp(runId, text);
    } catch (cause) {
      this.#options.log?.error({ runId, err: cause }, "run.not_given_up");
    }
  }

  /** Resumes a run of an earlier process here. Never rejects. */
  async #takeUp(run: RunSummary): Promise<"queued" | "resumed" | "parked" | "failed"> {
    try {
      const live = await this.#enter(run);
      if (live.isQueued) return "queued";
      return live.run?.paused === null ? "resumed" : "parked";
    } catch (error) {
      await this.#giveUp(run.runId, error);
      this.#live.removeId(run.runId);
      return "failed";
    }
  }

  async #enter(run: RunSummary): Promise<LiveRun> {
    const live = await takeUp(run, {
      engine: this.#engine,
      store: this.#store,
      compile: (header) => this.#plans.ofRun(header),
      add: (start) => this.#add(start),
      now: this.#options.now,
    });
    if (!live.isQueued) this.#follow(live);
    return live;
  }

  /** A run that never began ends with a log of one event. */
  #drop(live: LiveRun): Promise<void> {
    const { runId } = live;
    return this.#live.drop(live, (epoch) =>
      writeUnstarted(this.#store.journal, { runId, epoch }, this.#options.now()),
    );
  }
}
