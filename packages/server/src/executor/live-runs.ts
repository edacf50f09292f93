/**
 * The runs of one executor that have not ended: running, paused, and queued for a place.
 *   L1  At most `maxLive` runs work at once; a paused run does not count. The others wait in the order of their start.
 */
import {
  type AbortSignalLike,
  createView,
  type EncodedEvent,
  type ExecutionEvent,
  type Journal,
  makeSummary,
  type RunHeader,
  type RunState,
  type Summary,
  serialiseEvent,
} from "@millrace/contracts";
import { UnorderedMap } from "@millrace/contracts/kit";
import type { Run as EngineRun, Plan } from "@millrace/engine";
import type { StoreJournal } from "@millrace/store";
import { RunLog, StoredLine } from "./run-log.ts";

export interface LiveRunsOptions {
  readonly maxLive: number;
  /** Begins a run that has waited, now that there is a place. Never rejects. */
  readonly launch: (live: LiveRun) => Promise<void>;
}

export class LiveRuns {
  readonly #options: LiveRunsOptions;
  readonly #runs = new UnorderedMap<LiveRun>();
  readonly #queue: LiveRun[] = [];
  readonly #idle = new Set<() => void>();
  #closed = false;

  constructor(options: LiveRunsOptions) {
    this.#options = options;
  }

  /** All of them, as they are now. */
  all(): readonly LiveRun[] {
    return this.#runs.values();
  }

  /** Those that wait for a place, the first of them first, as they are now. */
  waiting(): readonly LiveRun[] {
    return [...this.#queue];
  }

  get(runId: string): LiveRun | undefined {
    return this.#runs.get(runId);
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Whether a run that starts now can work at once. */
  get hasPlace(): boolean {
    return this.#queue.length === 0 && this.#hasRoom();
  }

  add(live: LiveRun): void {
    this.#runs.set(live.runId, live);
  }

  /** Removes a run; its readers get their end. */
  remove(live: LiveRun): void {
    this.leaveQueue(live);
    live.end();
    if (this.#runs.get(live.runId) === live) this.#runs.delete(live.runId);
    this.fill();
  }

  removeId(runId: string): void {
    const live = this.#runs.get(runId);
    if (live !== undefined) this.remove(live);
  }

  enqueue(live: LiveRun): void {
    live.isQueued = true;
    this.#queue.push(live);
  }

  leaveQueue(live: LiveRun): void {
    const at = this.#queue.indexOf(live);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  /** Ends a run of the queue with what `end` writes for it, once however often it is asked for. */
  drop(live: LiveRun, end: (epoch: number) => Promise<void>): Promise<void> {
    live.dropped ??= this.#endUnstarted(live, end);
    return live.dropped;
  }

  async #endUnstarted(live: LiveRun, end: (epoch: number) => Promise<void>): Promise<void> {
    this.leaveQueue(live);
    await live.committed();
    try {
      if (live.epoch !== undefined) await end(live.epoch);
    } finally {
      this.remove(live);
    }
  }

  /** Starts what waits, as far as there is room, and tells who waits for quiet. */
  fill(): void {
    while (!this.#closed) {
      const [next] = this.#queue;
      if (next?.epoch === undefined || !this.#hasRoom()) break;
      this.#queue.shift();
      next.isQueued = false;
      void this.#options.launch(next);
    }
    if (this.#idle.size === 0 || this.#working() > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle.clear();
  }

  /** From now on nothing that waits is started. */
  close(): void {
    this.#closed = true;
  }

  /** Resolves when no run works, or after `ms`. */
  settled(ms: number): Promise<void> {
    if (this.#working() === 0 || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#idle.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#idle.add(done);
    });
  }

  #hasRoom(): boolean {
    const { maxLive } = this.#options;
    return this.#runs.size < maxLive || this.#working() < maxLive; // they are counted only where it matters
  }

  #working(): number {
    let count = 0;
    for (const { isWorking } of this.#runs.values()) if (isWorking) count += 1;
    return count;
  }
}

/** States that hold a place; a paused run holds none. */
const WORKING: ReadonlySet<RunState> = new Set(["pending", "running", "cancelling"]);

export interface LiveRunParts {
  readonly header: RunHeader;
  readonly plan: Plan;
  readonly journal: StoreJournal;
  /** How much of its log is stored, and the state that this leaves it in. */
  readonly lastSeq: number;
  readonly state: RunState;
  /** Told when it gives its place back, or takes it. */
  readonly onState: () => void;
}

/** Aborts when nothing of a run follows here: an `AbortSignal` takes as long as the rest of its entry in the list. */
export class Gone implements AbortSignalLike {
  aborted = false;
  #listeners: readonly (() => void)[] = [];

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners = this.#listeners.concat(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const told of this.#listeners) told();
  }
}

export class LiveRun {
  readonly runId: string;
  readonly header: RunHeader;
  readonly plan: Plan;
  readonly log: RunLog;
  isQueued = false;
  /** Set when it is cancelled in the queue. */
  dropped: Promise<void> | undefined;
  /** Of its row; undefined until that is committed. */
  epoch: number | undefined;
  /** As its stored log says. */
  state: RunState;
  /** Why its stored log says that it is paused; null when it is not. */
  pauseReason: string | null = null;
  run: EngineRun | undefined;
  /** Aborts when nothing follows here. */
  readonly gone: Gone = new Gone();
  #isOver = false;
  #waiting: (() => void)[] = [];
  readonly #onState: () => void;
  readonly #unfollow: () => void;

  constructor({ header, plan, journal, lastSeq, state, onState }: LiveRunParts) {
    this.runId = header.runId;
    this.header = header;
    this.plan = plan;
    this.log = new RunLog(journal, header.runId, lastSeq);
    this.state = state;
    this.#onState = onState;
    this.#unfollow = journal.follow(header.runId, lastSeq, (events) => this.#take(events));
  }

  get isWorking(): boolean {
    return !this.isQueued && WORKING.has(this.state) && !this.log.ended;
  }

  /** Whether it has gone from here without its end: what was said to it here may be in no log. */
  get isGone(): boolean {
    return this.log.ended && !this.#isOver;
  }

  /** Resolves when its row is committed, or never will be. */
  committed(): Promise<void> {
    return this.#when(() => this.epoch !== undefined);
  }

  /** Resolves when the engine has it, or never will. */
  entered(): Promise<void> {
    return this.#when(() => this.run !== undefined);
  }

  commit(epoch: number): void {
    this.epoch = epoch;
    this.#tell();
  }

  enter(run: EngineRun): void {
    this.run = run;
    this.pauseReason = run.paused;
    this.#tell();
  }

  /** Resolves when the log so far makes this true, or nothing more follows. */
  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      const changed = this.log.changed(); // before it is asked: the answer may take a while
      if ((await isTrue()) || this.log.ended) return;
      await changed;
    }
  }

  /** Says that nothing follows here, whether the log is whole or not. */
  end(): void {
    this.#unfollow();
    this.log.end();
    this.gone.abort();
    this.#tell();
  }

  async #when(isTrue: () => boolean): Promise<void> {
    while (!isTrue() && !this.gone.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #take(events: readonly EncodedEvent[]): void {
    const before = this.isWorking;
    for (const { event } of events) this.#observe(event);
    // Readers want bytes; the event itself would only take room beside them.
    this.log.append(events.map((event) => new StoredLine(event)));
    if (events.at(-1)?.kind === "summary") {
      this.#isOver = true;
      this.end();
    }
    if (before !== this.isWorking) this.#onState();
  }

  #observe(event: ExecutionEvent): void {
    switch (event.kind) {
      case "run.started":
      case "run.resumed":
        this.state = "running";
        this.pauseReason = null;
        break;
      case "run.paused":
        this.state = "paused";
        this.pauseReason = event.reason;
        break;
      case "run.cancelling":
        this.state = "cancelling";
        this.pauseReason = null;
        break;
      default:
    }
  }
}

/** Writes it. @see the events page, "Summary" */
export async function writeUnstarted(
  journal: Journal,
  run: { readonly runId: string; readonly epoch: number },
  ts: number,
): Promise<void> {
  const { runId, epoch } = run;
  const payload = makeSummary(createView(runId), { status: "cancelled", ts });
  const event: Summary = { v: 1, kind: "summary", runId, seq: 1, ts, ...payload };
  const line = new TextEncoder().encode(serialiseEvent(event));
  await journal.append(runId, 0, [{ seq: 1, kind: event.kind, line, event }], {
    epoch,
    sync: true,
  });
}
