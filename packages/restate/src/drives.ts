/**
 * The drives at work on this server.
 *   W1  At most `maxDrives` are at work.
 *   W2  A run is driven once at a time: a call for a run that is still at work here waits for it.
 *   W3  After `close` none begins, and each is told to leave when its time is over.
 */
import { setMaxListeners } from "node:events";
import {
  type AbortSignalLike,
  Again,
  DispatcherError,
  type Drive,
  type DriveResult,
} from "@millrace/contracts";
import { sleep, untilAborted } from "@millrace/contracts/kit";

/** How long a call waits for a place here before another server is asked. */
const PLACE_MS = 1_000;

/** A call that waits for a place. */
interface Waiter {
  isGiven: boolean;
  wake(): void;
}

export class Drives {
  readonly #drive: Drive;
  readonly #working = new Map<string, Promise<unknown>>();
  readonly #waiting = new Set<Waiter>();
  readonly #leave = new AbortController();
  #free: number;
  #isClosed = false;

  constructor(drive: Drive, maxDrives: number) {
    this.#drive = drive;
    this.#free = maxDrives;
    setMaxListeners(0, this.#leave.signal); // each drive at work listens
  }

  /** Drives the run. Rejects with `Again` when there is no place, or with what the drive throws. */
  async call(runId: string, lost: AbortSignal): Promise<DriveResult> {
    await untilAborted(this.#working.get(runId) ?? Promise.resolve(), lost);
    await this.#takePlace(lost);
    if (this.#isClosed || lost.aborted || this.#working.has(runId)) {
      this.#givePlace();
      throw new Again("this server is closing, or drives the run");
    }
    const work = this.#work(runId, lost);
    this.#working.set(
      runId,
      work.catch(() => {}),
    );
    try {
      return await work;
    } finally {
      this.#working.delete(runId);
      this.#givePlace();
    }
  }

  /** Resolves when no drive is at work. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    for (const { wake } of this.#waiting) wake();
    const settled = new AbortController();
    const leave = async () => {
      if (graceMs > 0) await sleep(graceMs, settled.signal);
      this.#leave.abort(new DispatcherError("dispatcher_closed", "the dispatcher closes"));
    };
    leave().catch(() => {}); // all have ended before
    await Promise.all(this.#working.values());
    settled.abort();
  }

  async #work(runId: string, lost: AbortSignalLike): Promise<DriveResult> {
    return this.#drive(runId, { signal: this.#leave.signal, lost });
  }

  /** Rejects with `Again` when none is given in time. */
  async #takePlace(lost: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const waiter: Waiter = { isGiven: false, wake: () => {} };
    const woken = new Promise<void>((resolve) => {
      waiter.wake = resolve;
    });
    this.#waiting.add(waiter);
    const signal = AbortSignal.any([lost, AbortSignal.timeout(PLACE_MS)]);
    await untilAborted(woken, signal).catch(() => {});
    this.#waiting.delete(waiter);
    if (!waiter.isGiven) throw new Again("this server is busy");
  }

  #givePlace(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next.isGiven = true;
    next.wake();
  }
}
