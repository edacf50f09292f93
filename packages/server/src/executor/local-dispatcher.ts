/**
 * The dispatcher of a single server: rings are kept in memory, and every drive is called here.
 *   L1  A run is in the queue or at work at most once; a ring during its drive is remembered as one further call.
 *   L2  `close` leaves no timer and no drive behind.
 */
import {
  Again,
  type Dispatcher,
  DispatcherError,
  type Drive,
  type DriveResult,
  type RingOptions,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { LIMITS } from "../config/limits.ts";
import type { Logger } from "../ports.ts";

/** Options of `createLocalDispatcher`. */
export interface LocalDispatcherOptions {
  /** Runs that are driven at the same time; default 64. */
  readonly maxDrives?: number | undefined;
  /** Told of drives that failed and are repeated. */
  readonly log?: Pick<Logger, "warn"> | undefined;
}

const OPTIONS: OptionNames<LocalDispatcherOptions> = { maxDrives: true, log: true };

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000; // a run whose drive fails for a while goes on soon after the fault is gone
const MAX_TIMER_MS = 2_147_483_647; // what `setTimeout` takes

/** State of a run that is rung, is being driven, or waits for a time. */
interface RungRun {
  readonly timers: Set<() => void>;
  isQueued: boolean;
  isDriven: boolean;
  /** Rung since its drive began. */
  isRungAgain: boolean;
  /** Drives that failed, one after the other. */
  failures: number;
}

/** The dispatcher of a server that shares its runs with no other. What is rung before `serve` is called then. */
export function createLocalDispatcher(options: LocalDispatcherOptions = {}): Dispatcher {
  checkOptions("createLocalDispatcher", options, OPTIONS);
  return new LocalDispatcher(options);
}

class LocalDispatcher implements Dispatcher {
  readonly condition = "ok";
  readonly #maxDrives: number;
  readonly #log: LocalDispatcherOptions["log"];
  readonly #runs = new Map<string, RungRun>();
  readonly #queue: string[] = [];
  readonly #working = new Set<Promise<void>>();
  readonly #leave = new AbortController();
  /** Never aborts: no other server can be called. */
  readonly #lost = new AbortController().signal;
  #drive: Drive | undefined;
  #closed: Promise<void> | undefined;

  constructor({ maxDrives = LIMITS.maxLiveRuns.default, log }: LocalDispatcherOptions) {
    this.#maxDrives = maxDrives;
    this.#log = log;
  }

  async ring(runId: string, { delayMs = 0 }: RingOptions = {}): Promise<void> {
    this.#checkOpen();
    const run = this.#runOf(runId);
    if (delayMs <= 0) this.#enqueue(runId, run);
    else this.#enqueueAfter(delayMs, runId, run);
  }

  async serve(drive: Drive): Promise<void> {
    this.#checkOpen();
    if (this.#drive !== undefined) {
      throw new DispatcherError("dispatcher_serves", "the dispatcher serves a drive already");
    }
    this.#drive = drive;
    this.#fill();
  }

  close({ graceMs = 0 }: { readonly graceMs?: number | undefined } = {}): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    this.#queue.length = 0;
    for (const { timers } of this.#runs.values()) for (const cancel of timers) cancel();
    const leave = () => this.#leave.abort(new DispatcherError("dispatcher_closed", "closing"));
    if (graceMs <= 0) leave();
    const cancel = graceMs <= 0 ? leave : after(graceMs, leave);
    await Promise.all(this.#working);
    cancel();
    this.#runs.clear();
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return;
    throw new DispatcherError("dispatcher_closed", "the dispatcher is closed");
  }

  #runOf(runId: string): RungRun {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const run: RungRun = {
      timers: new Set(),
      ...{ isQueued: false, isDriven: false, isRungAgain: false, failures: 0 },
    };
    this.#runs.set(runId, run);
    return run;
  }

  #enqueue(runId: string, run: RungRun): void {
    if (run.isDriven) run.isRungAgain = true;
    else if (!run.isQueued) {
      run.isQueued = true;
      this.#queue.push(runId);
      this.#fill();
    }
  }

  #enqueueAfter(ms: number, runId: string, run: RungRun): void {
    const cancel = after(ms, () => {
      run.timers.delete(cancel);
      this.#enqueue(runId, run);
    });
    run.timers.add(cancel);
  }

  #fill(): void {
    while (this.#drive !== undefined && this.#working.size < this.#maxDrives) {
      const runId = this.#queue.shift();
      if (runId === undefined) return;
      const work = this.#work(this.#drive, runId, this.#runOf(runId)).finally(() => {
        this.#working.delete(work);
        this.#fill();
      });
      this.#working.add(work);
    }
  }

  /** One drive, and what follows from it. Never rejects. */
  async #work(drive: Drive, runId: string, run: RungRun): Promise<void> {
    run.isQueued = false;
    run.isDriven = true;
    let result: DriveResult | undefined;
    try {
      result = await drive(runId, { signal: this.#leave.signal, lost: this.#lost });
      run.failures = 0;
    } catch (error) {
      run.failures += 1;
      if (!Again.isInstance(error)) this.#log?.warn({ runId, err: error }, "run.drive_failed");
    }
    run.isDriven = false;
    if (this.#closed !== undefined) return;
    if (result === undefined) {
      const ms = Math.min(FIRST_RETRY_MS * 2 ** (run.failures - 1), MAX_RETRY_MS);
      this.#enqueueAfter(ms, runId, run);
    } else if (result !== "done") this.#enqueueAfter(result.again, runId, run);
    if (run.isRungAgain) {
      run.isRungAgain = false;
      this.#enqueue(runId, run);
    } else if (!run.isQueued && run.timers.size === 0) this.#runs.delete(runId);
  }
}

/** Calls `fn` once after `ms`, which may be more than a timer takes; the answer cancels it. */
function after(ms: number, fn: () => void): () => void {
  const due = performance.now() + ms;
  let timer: ReturnType<typeof setTimeout>;
  const wait = (rest: number) => {
    timer = setTimeout(
      () => {
        const left = due - performance.now();
        if (left <= 0) fn();
        else wait(left);
      },
      Math.min(Math.ceil(rest), MAX_TIMER_MS),
    );
  };
  wait(ms);
  return () => clearTimeout(timer);
}
