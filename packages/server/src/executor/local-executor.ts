/**
 * Runs flows in this process: an engine, a store, and a queue between them. The store is the truth about every run; here is
 * only what steers the live ones and wakes their readers.
 *   L1  A reader sees an event only after the store has it.
 *   L2  A run whose start was answered is in the store, and goes on when another process opens it.
 *   L3  A run that another process of this machine works on stays there: what people say to it is left in its inbox, and its log is read
 *       from the store.
 */
import { setTimeout as pause } from "node:timers/promises";
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
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import type { FlowCatalog } from "@millrace/dsl";
import { type Engine, EngineError, type Registry, type SubflowPort } from "@millrace/engine";
import { type Store, StoreError } from "@millrace/store";
import { LIMITS } from "../config/limits.ts";
import { createStandardRegistry } from "../host/registry.ts";
import type { Logger } from "../ports.ts";
import {
  refuse,
  refusedStart,
  runEndedError,
  runExistsError,
  runNotLocalError,
  throwRunNotFound,
} from "./errors.ts";
import { answerOf, askDriver, type DriverRequest } from "./inbox.ts";
import { LiveRun, LiveRuns, writeUnstarted } from "./live-runs.ts";
import { createPlans, type Plans } from "./plans.ts";
import {
  checkOpen,
  checkRetried,
  headerOf,
  inPool,
  type LiveStart,
  optionsOf,
  takeUp,
  varsOf,
} from "./run-header.ts";
import { signalRun } from "./signal-run.ts";

/** What a local executor is made of. `engine` must write to the journal of `store`. */
export interface LocalExecutorOptions {
  readonly engine: Engine;
  readonly store: Store;
  /** Node types of the flows. Default: the core ones. */
  readonly registry?: Registry;
  /** Whose variables runs read; default those of all environments alone. */
  readonly environment?: string | undefined;
  /** What the flows of new runs are validated with. Default: the node types of `registry` alone. */
  readonly catalog?: FlowCatalog | undefined;
  readonly subflows?: SubflowPort;
  /** Runs that work at once; default 64. */
  readonly maxLiveRuns?: number;
  /** Runs that wait for a place; default 256. */
  readonly maxQueuedRuns?: number;
  /** Nodes of one flow, bodies included; default 20,000. */
  readonly maxNodes?: number;
  /** Told of runs that could not be taken up. */
  readonly log?: Pick<Logger, "error">;
  /** Epoch milliseconds; default the machine's clock. */
  readonly now?: () => number;
}

const OPTIONS: OptionNames<LocalExecutorOptions> = {
  ...{ engine: true, store: true, registry: true, catalog: true, subflows: true },
  ...{ maxLiveRuns: true, maxQueuedRuns: true, maxNodes: true, log: true, now: true },
  environment: true,
};

/** Runs that are taken up at the same time: as many as a server runs at once. */
const RECOVERED_AT_ONCE = 64;
/** How often the log of a run that another process works on is looked at: a person sees no difference to at once. */
const LOOK_MS = 200;

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
  checkOptions("createLocalExecutor", options, OPTIONS);
  return new EngineExecutor(options);
}

class EngineExecutor implements LocalExecutor {
  readonly kind: Store["kind"];
  readonly #engine: Engine;
  readonly #store: Store;
  readonly #options: LocalExecutorOptions & {
    readonly maxQueuedRuns: number;
    readonly now: () => number;
  };
  readonly #plans: Plans;
  readonly #live: LiveRuns;
  /** Runs that are being taken up. */
  readonly #taking = new Map<string, Promise<void>>();
  /** Ids of new runs that the store is asked about. */
  readonly #checking = new Set<string>();
  #recovering = false;
  #closed: Promise<void> | undefined;

  constructor(options: LocalExecutorOptions) {
    const { engine, store, registry = createStandardRegistry(), catalog, subflows } = options;
    const { maxNodes, maxLiveRuns, maxQueuedRuns } = LIMITS;
    this.kind = store.kind;
    this.#engine = engine;
    this.#store = store;
    this.#options = { maxQueuedRuns: maxQueuedRuns.default, now: Date.now, ...options };
    const limits = { nodes: options.maxNodes ?? maxNodes.default };
    this.#plans = createPlans({ registry, catalog, limits, subflows });
    this.#live = new LiveRuns({
      maxLive: options.maxLiveRuns ?? maxLiveRuns.default,
      launch: (live) => this.#launch(live),
    });
  }

  get recovering(): boolean {
    return this.#recovering;
  }

  async start(spec: RunSpec, rows: StartRows = {}): Promise<RunRef> {
    const compiled = await this.#plans.ofStart(spec.graph);
    if (!compiled.ok) throw refuse("flow_invalid", "the flow is not valid", compiled.diagnostics);
    const { plan } = compiled;
    checkOpen(this.#store, this.#closed !== undefined);
    const runId = spec.runId ?? createRunId(this.#options.now(), Math.random);
    const isNew = spec.runId === undefined && spec.retryOf === undefined;
    if (!isNew) await this.#checkRuns(spec);
    const { environment } = this.#options;
    const vars = await varsOf(spec, plan, this.#options);
    // From here to the queue nothing is awaited: what was checked stays true.
    checkOpen(this.#store, this.#closed !== undefined);
    if (this.#live.has(runId)) throw runExistsError(runId);
    const header = headerOf({ spec, plan, runId, vars, environment }, this.#engine);
    const waits = !this.#live.hasPlace;
    const waiting = this.#live.waiting().length;
    if (waits && waiting >= this.#options.maxQueuedRuns) {
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

  /**
   * Throws for an id that a run has: its readers keep an ended run, so no other may take its place, not even until the store refuses.
   * Throws for a run to retry that is not there.
   */
  async #checkRuns(spec: RunSpec): Promise<void> {
    const { runId } = spec;
    if (runId !== undefined) {
      if (this.#checking.has(runId)) throw runExistsError(runId); // a run of this id may begin and end while it is looked for
      this.#checking.add(runId);
      try {
        const isKnown = (await this.#store.runs.summary(runId)) !== null;
        if (isKnown || this.#live.has(runId)) throw runExistsError(runId);
      } finally {
        this.#checking.delete(runId);
      }
    }
    await checkRetried(this.#store, spec);
  }

  signal(runId: string, signal: RunSignal): Promise<SignalResult> {
    return this.#tell(runId, { signal }, () => this.#signalHere(runId, signal));
  }

  cancel(runId: string, options: CancelOptions): Promise<Run> {
    return this.#tell(runId, { cancel: options }, () => this.#cancelHere(runId, options));
  }

  /**
   * Says something to a run, wherever it is: live here or ended, it is for `here`; a run that was left is taken up first. Another process
   * that works on it is asked.
   */
  async #tell<T>(runId: string, request: DriverRequest, here: () => Promise<T>): Promise<T> {
    const { inbox, runs } = this.#store;
    if (inbox === undefined || this.#live.has(runId)) return here();
    /** Whether another process is there to answer, or this one has taken the run up to do so. */
    const look = async (): Promise<boolean> => {
      const run = this.#live.has(runId) ? null : await runs.summary(runId);
      if (run === null || run.endedAt !== null) return this.#live.has(runId);
      if ((await runs.worker(runId)) !== null) return true;
      await this.takeUp(runId).catch(async (error: unknown) => {
        if ((await runs.worker(runId)) === null) throw error; // else another process was faster
      });
      return true;
    };
    if (!(await look()) || this.#live.has(runId)) return here();
    const answer = await askDriver({ inbox }, { runId, request, look });
    if (answer === undefined) return here();
    return (answer ?? (await this.get(runId))) as T;
  }

  async #signalHere(runId: string, signal: RunSignal): Promise<SignalResult> {
    const live = this.#live.get(runId);
    if (live !== undefined && !live.isQueued) await live.entered;
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
      await live.entered;
      if (live.run?.cancel(options) === true) {
        await live.until(() => live.state === "cancelling");
      }
    }
    return (await this.get(runId)) ?? throwRunNotFound(runId);
  }

  async *attach(
    runId: string,
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly StoredEvent[], void> {
    const { after = 0, signal } = options;
    const { journal, runs } = this.#store;
    const isKnown = this.#live.has(runId) || (await runs.summary(runId)) !== null;
    if (!isKnown) throwRunNotFound(runId);
    for (let at = after; ; ) {
      const live = this.#live.get(runId);
      if (live !== undefined) {
        yield* live.log.read(at, signal);
        return;
      }
      // Asked before the log is read: what is written afterwards is seen by the next look.
      const goesOn = (await runs.worker(runId)) !== null;
      for await (const page of journal.read(runId, at)) {
        if (signal?.aborted) return;
        yield page;
        at = page.at(-1)?.seq ?? at;
      }
      if (!goesOn || signal?.aborted) return;
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
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

  async takeUp(runId: string): Promise<void> {
    // Two who ask at once wait for one take: a second one would take the run from the first.
    const taking = this.#taking.get(runId) ?? this.#takeUpOne(runId);
    this.#taking.set(runId, taking);
    try {
      await taking;
    } finally {
      this.#taking.delete(runId);
    }
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
    this.#closed ??= this.kind === "memory" ? this.#endAll(graceMs) : this.#leaveAll(graceMs);
    return this.#closed;
  }

  /** Nothing outlives this process: every run has its end before it goes. */
  async #endAll(graceMs: number): Promise<void> {
    await Promise.all(this.#live.waiting().map((live) => this.#drop(live)));
    // A paused run waits for a request, and no more requests are let in.
    for (const { state, run } of this.#live.all()) {
      if (state === "paused") run?.cancel({ reason: "shutdown" });
    }
    await this.#live.settled(graceMs);
    await this.#engine.close({ graceMs: 0 });
    for (const live of this.#live.all()) this.#live.remove(live);
  }

  /** Runs go on for a while; those that are still there are found by the next process as they are. */
  async #leaveAll(graceMs: number): Promise<void> {
    const due = performance.now() + graceMs;
    await this.#live.settled(graceMs);
    await this.#engine.close({ leave: true, graceMs: Math.max(0, due - performance.now()) });
    for (const live of this.#live.all()) this.#live.remove(live);
  }

  #add(start: LiveStart): LiveRun {
    const { journal } = this.#store;
    const live = new LiveRun({ ...start, journal, onState: () => this.#live.fill() });
    this.#live.add(live);
    const { runId } = live;
    void this.#store.inbox?.obeyUntil(live.gone.signal, {
      runId,
      isNew: start.state === "pending",
      obey: () => this.#obey(runId),
    });
    return live;
  }

  /** Does what other processes have asked of a run that is live here. */
  async #obey(runId: string): Promise<void> {
    const { inbox } = this.#store;
    for (const { id, message } of (await inbox?.pending(runId)) ?? []) {
      const request = message as unknown as DriverRequest;
      const work =
        "signal" in request
          ? this.#signalHere(runId, request.signal)
          : this.#cancelHere(runId, request.cancel).then(() => null);
      await inbox?.answer({ id, runId }, await answerOf(work));
    }
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
    await this.#follow(live);
  }

  /** Keeps a run in the list until it has ended, or is lost. Never rejects. */
  async #follow(live: LiveRun): Promise<void> {
    // When the journal fails, or another owner has the run, its log ends here where it is.
    await live.run?.result.catch(() => {});
    const isLeft = this.#closed !== undefined && live.run !== undefined;
    if (!isLeft || live.log.ended) this.#live.remove(live);
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

  /** What the process before has left of a run goes on here. Never rejects. */
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
    if (!live.isQueued) void this.#follow(live);
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
