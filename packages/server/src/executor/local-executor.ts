/**
 * Runs flows in this process: an engine, a journal, a queue in front, and a bounded memory of what has ended.
 *   L1  At most `maxLiveRuns` runs work at once; a paused run does not count. The others wait in the order of their start.
 *   L2  A reader sees an event only after the journal has stored it.
 *   L3  What has ended is forgotten when it is more than the retention allows.
 */
import {
  type CancelOptions,
  createRunId,
  type Executor,
  type Journal,
  type Page,
  type RecoveryReport,
  type Run,
  type RunQuery,
  type RunRef,
  type RunSignal,
  type RunSpec,
  type RunSummary,
  type SignalResult,
  type StoredEvent,
  type Trigger,
} from "@millrace/contracts";
import {
  compileFlow,
  createRegistry,
  type Engine,
  type Run as EngineRun,
  type Plan,
  type Registry,
  type RunOptions,
  type SubflowPort,
} from "@millrace/engine";
import { LIMITS } from "../config/index.ts";
import { ExecutorError } from "./errors.ts";
import { runFilter } from "./filter.ts";
import { RunRecord } from "./record.ts";
import { Retention } from "./retention.ts";
import { writeUnstarted } from "./unstarted.ts";

/** What a local executor is made of. `engine` must write to `journal`. */
export interface LocalExecutorOptions {
  readonly engine: Engine;
  readonly journal: Journal;
  /** Node types of the flows. Default: the core ones. */
  readonly registry?: Registry;
  readonly subflows?: SubflowPort;
  /** Runs that work at once; default 64. */
  readonly maxLiveRuns?: number;
  /** Runs that wait for a place; default 256. */
  readonly maxQueuedRuns?: number;
  /** Nodes of one flow, bodies included; default 20,000. */
  readonly maxNodes?: number;
  /** Epoch milliseconds; default the machine's clock. */
  readonly now?: () => number;
}

/** States that hold a place; what a summary has ended holds none, even before it is taken off the books. */
const WORKING: ReadonlySet<string> = new Set(["pending", "running", "cancelling"]);

interface LiveRun {
  readonly record: RunRecord;
  readonly plan: Plan;
  /** Undefined while it waits in the queue. */
  run: EngineRun | undefined;
  /** Why its log is not whole; undefined when nothing went wrong. */
  failure: unknown;
  /** Set when it is cancelled in the queue. */
  dropped?: Promise<void>;
}

/** The executor over an engine in this process. Takes ownership of the engine: `close` closes it. */
export function createLocalExecutor(options: LocalExecutorOptions): Executor {
  return new LocalExecutor(options);
}

class LocalExecutor implements Executor {
  readonly kind = "memory";
  readonly #engine: Engine;
  readonly #journal: Journal;
  readonly #registry: Registry;
  readonly #subflows: SubflowPort | undefined;
  readonly #maxLive: number;
  readonly #maxQueued: number;
  readonly #maxNodes: number;
  readonly #now: () => number;
  /** All runs that are known, oldest first. */
  readonly #records = new Map<string, RunRecord>();
  readonly #live = new Map<string, LiveRun>();
  readonly #queue: LiveRun[] = [];
  readonly #retention: Retention;
  #started = 0;
  #closing = false;
  readonly #idle = new Set<() => void>();

  constructor(options: LocalExecutorOptions) {
    this.#engine = options.engine;
    this.#journal = options.journal;
    this.#registry = options.registry ?? createRegistry();
    this.#subflows = options.subflows;
    this.#maxLive = options.maxLiveRuns ?? LIMITS.maxLiveRuns.default;
    this.#maxQueued = options.maxQueuedRuns ?? LIMITS.maxQueuedRuns.default;
    this.#maxNodes = options.maxNodes ?? LIMITS.maxNodes.default;
    this.#now = options.now ?? Date.now;
    this.#retention = new Retention((runId) => {
      this.#records.delete(runId);
      this.#journal.forget?.(runId);
    });
  }

  async start(spec: RunSpec): Promise<RunRef> {
    const compiled = await compileFlow(spec.graph, {
      registry: this.#registry,
      limits: { nodes: this.#maxNodes },
      ...(this.#subflows === undefined ? {} : { subflows: this.#subflows }),
    });
    if (!compiled.ok) throw refuse("flow_invalid", "the flow is not valid", compiled.diagnostics);
    const problems = this.#engine.checkInputs(compiled.plan, spec.inputs);
    if (problems.length > 0) throw refuse("input_invalid", "the inputs do not fit", problems);
    // From here to the queue nothing is awaited: what was checked stays true.
    if (this.#closing) throw refuse("executor_unavailable", "the executor is closing");
    const createdAt = this.#now();
    const runId = spec.runId ?? createRunId(createdAt, Math.random);
    if (this.#records.has(runId)) throw refuse("run_exists", `a run "${runId}" exists`);
    const waits = this.#working() >= this.#maxLive;
    if (waits && this.#queue.length >= this.#maxQueued) {
      throw refuse("too_many_runs", `${this.#queue.length} runs are waiting`);
    }
    this.#started += 1;
    const record = new RunRecord({
      no: this.#started,
      runId,
      spec,
      journal: this.#journal,
      createdAt,
    });
    const live: LiveRun = { record, plan: compiled.plan, run: undefined, failure: undefined };
    this.#records.set(runId, record);
    this.#live.set(runId, live);
    if (waits) this.#queue.push(live);
    else await this.#begin(live);
    return { runId, status: "pending" };
  }

  async signal(runId: string, signal: RunSignal): Promise<SignalResult> {
    const record = this.#records.get(runId);
    if (record === undefined) return { ok: false, code: "not_found" };
    const run = this.#live.get(runId)?.run;
    if (signal.kind !== "confirm") {
      return this.#steer(record, run, signal.kind);
    }
    const { decision, value, comment, by, id } = signal;
    const reply =
      run === undefined
        ? undefined
        : await run.confirm(id, {
            decision,
            by,
            ...(value === undefined ? {} : { value }),
            ...(comment === undefined ? {} : { comment }),
          });
    if (reply?.ok) {
      await record.until(() => record.outcomeOf(id) !== "requested");
      return reply;
    }
    // An ended run no longer answers, but its log does.
    const outcome = record.outcomeOf(id);
    if (reply !== undefined && reply.code !== "not_found" && reply.code !== "already_resolved")
      return reply;
    if (outcome === undefined || outcome === "requested") return { ok: false, code: "not_found" };
    if (outcome === "expired") return { ok: false, code: "confirmation_expired", outcome };
    return { ok: false, code: "already_resolved", outcome };
  }

  /** Resolves when the log shows it. Doing it twice is doing it once. */
  async #steer(
    record: RunRecord,
    run: EngineRun | undefined,
    kind: "pause" | "resume",
  ): Promise<SignalResult> {
    if (kind === "pause" && record.pauseReason === "operator") return { ok: true };
    const done = kind === "pause" ? run?.pause() : run?.resume();
    if (!done) return { ok: false, code: "state_conflict" };
    await record.until(() => (record.pauseReason === "operator") === (kind === "pause"));
    return { ok: true };
  }

  async cancel(runId: string, options: CancelOptions): Promise<Run> {
    const record = this.#records.get(runId);
    if (record === undefined) throw refuse("not_found", `there is no run "${runId}"`);
    const live = this.#live.get(runId);
    if (live === undefined || record.ended) {
      throw new ExecutorError("state_conflict", "the run has ended", { state: record.state });
    }
    if (live.run === undefined) await this.#drop(live);
    else {
      live.run.cancel(options);
      await record.until(() => record.state === "cancelling");
    }
    return record.toRun();
  }

  async *attach(
    runId: string,
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly StoredEvent[], void> {
    const record = this.#records.get(runId);
    if (record === undefined) throw refuse("not_found", `there is no run "${runId}"`);
    try {
      yield* record.log.read(options.after ?? 0, options.signal);
    } finally {
      this.#retention.trim();
    }
  }

  async get(runId: string): Promise<Run | null> {
    return (await this.#records.get(runId)?.toRun()) ?? null;
  }

  async list(query: RunQuery): Promise<Page<RunSummary>> {
    const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : Number(query.cursor);
    const fits = runFilter(query);
    const items: RunSummary[] = [];
    let last: RunRecord | undefined;
    for (const record of [...this.#records.values()].reverse()) {
      if (record.no >= before) continue;
      const summary = record.toSummary();
      if (!fits(summary)) continue;
      if (items.length === query.limit) return { items, nextCursor: String(last?.no) };
      items.push(summary);
      last = record;
    }
    return { items, nextCursor: null };
  }

  /** Memory forgets everything with its process: there is never anything to take over. */
  async recover(): Promise<RecoveryReport> {
    return { resumed: 0, parked: 0, failed: 0, ms: 0 };
  }

  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#queue].map((live) => this.#drop(live)));
    // A paused run waits for somebody who is no longer let in.
    for (const { record, run } of this.#live.values()) {
      if (record.state === "paused") run?.cancel({ reason: "shutdown" });
    }
    if (this.#live.size > 0 && graceMs > 0) await this.#settled(graceMs);
    for (const { run } of this.#live.values()) run?.cancel({ reason: "shutdown" });
    if (this.#live.size > 0) await this.#settled(Number.POSITIVE_INFINITY);
    await this.#engine.close({ graceMs: 0 });
  }

  #working(): number {
    let count = 0;
    for (const { record, run } of this.#live.values()) {
      if (run !== undefined && WORKING.has(record.state)) count += 1;
    }
    return count;
  }

  /** Resolves when the journal knows the run; otherwise it never was. */
  async #begin(live: LiveRun): Promise<void> {
    const { record } = live;
    this.#launch(live);
    await record.until(() => record.log.lastSeq > 0);
    if (record.log.lastSeq > 0) return;
    this.#records.delete(record.runId);
    this.#retention.remove(record);
    throw live.failure instanceof Error &&
      "code" in live.failure &&
      live.failure.code === "run_exists"
      ? refuse("run_exists", `a run "${record.runId}" exists`)
      : refuse("executor_unavailable", "the run could not be started");
  }

  #launch(live: LiveRun): void {
    const { spec, runId } = live.record;
    const { confirm } = spec;
    const options: RunOptions = {
      runId,
      trigger: spec.trigger as Trigger,
      ...(spec.template === undefined ? {} : { template: spec.template.slug }),
      ...(spec.tags === undefined ? {} : { tags: spec.tags }),
      ...(spec.timeoutMs === undefined ? {} : { timeoutMs: spec.timeoutMs }),
      ...(confirm === undefined
        ? {}
        : { confirm: () => ({ decision: confirm, by: "run-option" }) }),
    };
    try {
      live.run = this.#engine.run(live.plan, spec.inputs, options);
    } catch (error) {
      live.failure = error; // the engine was closed by somebody else
      this.#forgetLive(live);
      return;
    }
    void this.#follow(live, live.run);
  }

  /** Shows what the run does to its readers until it has ended. Never rejects. */
  async #follow(live: LiveRun, run: EngineRun): Promise<void> {
    const { record } = live;
    // When the journal fails, or another owner has the run, its log ends here where it is.
    const ended = run.result.catch((error: unknown) => {
      live.failure = error;
    });
    try {
      for await (const _batch of run.events()) {
        await record.catchUp();
        if (record.state === "paused") this.#fill();
      }
    } catch (error) {
      live.failure = error;
    }
    await ended;
    this.#forgetLive(live);
  }

  /** Ends a run of the queue, once however often it is asked for. Never rejects. */
  #drop(live: LiveRun): Promise<void> {
    live.dropped ??= this.#endUnstarted(live);
    return live.dropped;
  }

  /** A run that never began ends with a log of one event. */
  async #endUnstarted(live: LiveRun): Promise<void> {
    const { record, plan } = live;
    const at = this.#queue.indexOf(live);
    if (at >= 0) this.#queue.splice(at, 1);
    try {
      await writeUnstarted(this.#journal, record, plan.digest, this.#now());
      await record.catchUp();
    } catch (error) {
      live.failure = error;
    }
    this.#forgetLive(live);
  }

  #forgetLive({ record }: LiveRun): void {
    record.end();
    this.#live.delete(record.runId);
    this.#retention.add(record);
    this.#fill();
    if (this.#live.size > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  /** Starts what waits, as far as there is room. */
  #fill(): void {
    while (!this.#closing && this.#queue.length > 0 && this.#working() < this.#maxLive) {
      this.#launch(this.#queue.shift() as LiveRun);
    }
  }

  /** Resolves when no run is live, or after `ms`. */
  #settled(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
      this.#idle.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

function refuse(
  code: ConstructorParameters<typeof ExecutorError>[0],
  message: string,
  diagnostics: ExecutorError["diagnostics"] = [],
): ExecutorError {
  return new ExecutorError(code, message, { diagnostics });
}
