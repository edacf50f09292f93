/**
 * A run that this process works on, or has in its queue: what steering and readers need of it. Everything else is in the
 * store, which is the truth.
 */
import type { EncodedEvent, ExecutionEvent, RunHeader, RunState } from "@millrace/contracts";
import type { Run as EngineRun, Plan } from "@millrace/engine";
import type { StoreJournal } from "@millrace/store";
import { RunLog } from "./run-log.ts";

/** States that hold a place; a paused run holds none. */
const WORKING: ReadonlySet<RunState> = new Set(["pending", "running", "cancelling"]);

/** What a live run is made of. */
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

export class LiveRun {
  readonly header: RunHeader;
  readonly plan: Plan;
  readonly log: RunLog;
  /** Waits for a place. */
  isQueued = false;
  /** Set when it is cancelled in the queue. */
  dropped: Promise<void> | undefined;
  #epoch: number | undefined;
  #state: RunState;
  #pauseReason: string | null = null;
  #run: EngineRun | undefined;
  #enter!: () => void;
  #tellCommitted!: () => void;
  /** Resolves when its row is committed, or never will be. */
  readonly committed: Promise<void>;
  /** Resolves when the engine has it, or never will. */
  readonly entered: Promise<void>;
  readonly #onState: () => void;
  readonly #unfollow: () => void;

  constructor({ header, plan, journal, lastSeq, state, onState }: LiveRunParts) {
    this.header = header;
    this.plan = plan;
    this.log = new RunLog(journal, header.runId, lastSeq);
    this.#state = state;
    this.#onState = onState;
    this.entered = new Promise((done) => {
      this.#enter = done;
    });
    this.committed = new Promise((done) => {
      this.#tellCommitted = done;
    });
    this.#unfollow = journal.follow(header.runId, (events) => this.#take(events));
  }

  get runId(): string {
    return this.header.runId;
  }

  /** Of its row; undefined until that is committed. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** As its stored log says. */
  get state(): RunState {
    return this.#state;
  }

  /** Why its stored log says that it is paused; null when it is not. */
  get pauseReason(): string | null {
    return this.#pauseReason;
  }

  /** The run in the engine. */
  get run(): EngineRun | undefined {
    return this.#run;
  }

  get isWorking(): boolean {
    return !this.isQueued && WORKING.has(this.#state) && !this.log.ended;
  }

  /** Its row is committed. */
  commit(epoch: number): void {
    this.#epoch = epoch;
    this.#tellCommitted();
  }

  /** The engine has it. */
  enter(run: EngineRun): void {
    this.#run = run;
    this.#pauseReason = run.paused;
    this.#enter();
  }

  /** Resolves when the log so far makes this true, or nothing more follows. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue() && !this.log.ended) await this.log.changed();
  }

  /** Says that nothing follows here, whether the log is whole or not. */
  end(): void {
    this.#unfollow();
    this.log.end();
    this.#tellCommitted();
    this.#enter();
  }

  #take(events: readonly EncodedEvent[]): void {
    const before = this.isWorking;
    for (const { event } of events) this.#observe(event);
    // Readers want bytes; the event itself would only take room beside them.
    this.log.append(events.map(({ seq, kind, line }) => ({ seq, kind, line })));
    if (events.at(-1)?.kind === "summary") this.end();
    if (before !== this.isWorking) this.#onState();
  }

  #observe(event: ExecutionEvent): void {
    switch (event.kind) {
      case "run.started":
      case "run.resumed":
        this.#state = "running";
        this.#pauseReason = null;
        break;
      case "run.paused":
        this.#state = "paused";
        this.#pauseReason = event.reason;
        break;
      case "run.cancelling":
        this.#state = "cancelling";
        this.#pauseReason = null;
        break;
      default:
    }
  }
}
