/**
 * The runs of one executor that have not ended: those at work, those that are paused, and those that wait for a place.
 *   L1  At most `maxLive` runs work at once; a paused run does not count. The others wait in the order of their start.
 */
import type { LiveRun } from "./live-run.ts";

/** What the runs of an executor are held to. */
export interface LiveRunsOptions {
  /** Runs that work at once. */
  readonly maxLive: number;
  /** Begins a run that has waited, now that there is a place. Never rejects. */
  readonly launch: (live: LiveRun) => Promise<void>;
}

export class LiveRuns {
  readonly #options: LiveRunsOptions;
  readonly #runs = new Map<string, LiveRun>();
  readonly #queue: LiveRun[] = [];
  readonly #idle = new Set<() => void>();
  #closed = false;

  constructor(options: LiveRunsOptions) {
    this.#options = options;
  }

  /** All of them, as they are now. */
  all(): readonly LiveRun[] {
    return [...this.#runs.values()];
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
    return this.#queue.length === 0 && this.#working() < this.#options.maxLive;
  }

  add(live: LiveRun): void {
    this.#runs.set(live.runId, live);
  }

  /** Takes a run off the books; its readers get their end. */
  remove(live: LiveRun): void {
    this.leaveQueue(live);
    live.end();
    if (this.#runs.get(live.runId) === live) this.#runs.delete(live.runId);
    this.fill();
  }

  enqueue(live: LiveRun): void {
    live.isQueued = true;
    this.#queue.push(live);
  }

  leaveQueue(live: LiveRun): void {
    const at = this.#queue.indexOf(live);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  /** Starts what waits, as far as there is room, and tells who waits for quiet. */
  fill(): void {
    while (!this.#closed && this.#working() < this.#options.maxLive) {
      const [next] = this.#queue;
      if (next?.epoch === undefined) break;
      this.#queue.shift();
      next.isQueued = false;
      void this.#options.launch(next);
    }
    if (this.#working() > 0) return;
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

  #working(): number {
    let count = 0;
    for (const { isWorking } of this.#runs.values()) if (isWorking) count += 1;
    return count;
  }
}
