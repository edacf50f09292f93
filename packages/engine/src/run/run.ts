/** A run as its caller holds it. */
import type { ExecutionEvent, RunState, Snapshot, Summary } from "@millrace/contracts";
import { EngineError } from "../errors.ts";
import type {
  Answer,
  ConfirmReply,
  LeaveOptions,
  OpenConfirmation,
  RunCancelOptions,
} from "../options.ts";
import { checkBatchOptions, checkCancelOptions, checkLeaveOptions } from "../options-check.ts";
import { cancelRun, leaveRun } from "./end-run.ts";
import { type BatchOptions, Cursor, type EventCursor } from "./event-log.ts";
import { pauseRun, restsUntil, resumeRun } from "./pause.ts";
import { answerConfirmation } from "./people.ts";
import type { RunCore } from "./state.ts";

/** One execution of a plan. */
export interface Run {
  readonly id: string;
  /** `lost`: its journal takes nothing any more; `left`: it was left by `leave` here or of the engine's `close`. Both can be taken up by `resume`. */
  readonly state: RunState | "lost" | "left";
  /** Reason of the pause; null while the run is not paused. */
  readonly paused: "confirmation" | "operator" | null;
  /**
   * When something of the run goes on by itself, in epoch milliseconds, while all of it waits; `Infinity`: only people make it go on.
   * Null: something is at work. A run that rests may be left until then, and be taken up with `ResumeOptions.wakes`.
   */
  readonly restsUntil: number | null;
  /** `seq` of the last event that readers may have. */
  readonly seq: number;
  /** Every outcome resolves; it rejects only with `EngineError` `journal_failed`, `lease_lost`, `run_exists`, `run_left`, `engine_closed`. */
  readonly result: Promise<Summary>;
  /** A new reader of the log, one event at a time: `for await (const event of run)`. It ends after `summary`, and throws like `batches`. */
  [Symbol.asyncIterator](): AsyncGenerator<ExecutionEvent, void>;
  /** A new reader of the log that gets many events at once, which is the fast way; any number of them. */
  batches(options?: BatchOptions): EventCursor;
  /**
   * Stops the run. False when it has ended, or ends already. A second call may only shorten the grace. Throws `EngineError`
   * `input_invalid` for an option that is not what it must be.
   */
  cancel(options?: RunCancelOptions): boolean;
  /**
   * Stops the run where it is, as if the process were gone, and gives its lease back: whoever has the journal may take it up. Its
   * `result` rejects with `run_left`. Does nothing when it has ended.
   */
  leave(options?: LeaveOptions): Promise<void>;
  /** Nothing starts until `resume`; what runs goes on. False when it is paused or stops already. */
  pause(): boolean;
  resume(): boolean;
  /** Open ones, in the order in which they were asked. */
  confirmations(): readonly OpenConfirmation[];
  /** Answers an open confirmation; resolves once the answer is stored. Rejects like `result` when the journal is lost. */
  confirm(id: string, answer: Answer): Promise<ConfirmReply>;
  /** The state of the run as the fold of its log. */
  snapshot(): Snapshot;
}

/** The handle of a run; `RunCore` stays behind it. */
export class RunHandle implements Run {
  readonly #run: RunCore;

  constructor(run: RunCore) {
    this.#run = run;
  }

  get id(): string {
    return this.#run.id;
  }

  get state(): Run["state"] {
    return stateOf(this.#run);
  }

  get paused(): "confirmation" | "operator" | null {
    return this.#run.paused;
  }

  get restsUntil(): number | null {
    return restsUntil(this.#run);
  }

  get seq(): number {
    return this.#run.log.published;
  }

  get result(): Promise<Summary> {
    return this.#run.finished;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecutionEvent, void> {
    for await (const batch of this.batches()) yield* batch;
  }

  batches(options: BatchOptions = {}): EventCursor {
    checkBatchOptions(options);
    const { log, engine } = this.#run;
    return new Cursor(log, options, { journal: engine.options.journal, now: engine.host.now });
  }

  cancel(options: RunCancelOptions = {}): boolean {
    checkCancelOptions(options);
    return cancelRun(this.#run, options);
  }

  async leave(options: LeaveOptions = {}): Promise<void> {
    checkLeaveOptions(options);
    if (this.#run.state === "over") return;
    const error = new EngineError("run_left", `the run ${this.id} was left to other processes`);
    await leaveRun(this.#run, error, options.graceMs);
  }

  pause(): boolean {
    return pauseRun(this.#run);
  }

  resume(): boolean {
    return resumeRun(this.#run);
  }

  confirmations(): readonly OpenConfirmation[] {
    return this.#run.confirmations.map(({ open }) => open);
  }

  async confirm(id: string, answer: Answer): Promise<ConfirmReply> {
    const reply = answerConfirmation(this.#run, id, answer);
    const { journal, finished } = this.#run;
    if (reply.ok && journal !== null) await Promise.race([journal.stored(), finished]);
    return reply;
  }

  snapshot(): Snapshot {
    return this.#run.log.snapshot(this.#run.now);
  }
}

const LEFT: ReadonlySet<string> = new Set(["engine_closed", "run_left"]);

function stateOf(run: RunCore): Run["state"] {
  const { lost } = run.log;
  if (lost !== null) return LEFT.has(lost.code) ? "left" : "lost";
  if (run.summary !== null) {
    const { status } = run.summary;
    return status === "invalid" ? "failed" : status;
  }
  if (run.state === "pending") return "pending";
  if (run.stop?.reason === "run_cancelled") return "cancelling";
  return run.paused === null ? "running" : "paused";
}
