/**
 * Runs that this server takes over from one that is dead or stands still. The dispatcher may go on waiting for the other one, whose
 * connection is open: who drives a run is decided by the store alone.
 */
import { setMaxListeners } from "node:events";
import { Again, type Drive, type DriveOptions, type DriveResult } from "@millrace/contracts";

/** Result of driving a run here; undefined: it was left. */
export type TakenOver = DriveResult | undefined;

export class Takeovers {
  readonly #drive: Drive;
  readonly #working = new Map<string, Promise<TakenOver>>();
  readonly #leave = new AbortController();

  constructor(drive: Drive) {
    this.#drive = drive;
    setMaxListeners(0, this.#leave.signal); // each run that is taken over listens
  }

  /** Drives a run. Never rejects for one that another server shall drive. */
  take(runId: string): Promise<TakenOver> {
    const { signal } = this.#leave;
    const known = this.#working.get(runId);
    if (known !== undefined || signal.aborted) return known ?? Promise.resolve(undefined);
    const work = this.#work(runId).finally(() => this.#working.delete(runId));
    this.#working.set(runId, work);
    return work;
  }

  /** A call of the dispatcher. One for a run that was taken over here waits until that has ended. */
  async call(runId: string, options: DriveOptions): Promise<DriveResult> {
    const work = this.#working.get(runId);
    if (work !== undefined) {
      const { signal, lost } = options;
      let leave = (): void => {};
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      for (const one of [signal, lost]) {
        if (one.aborted) leave();
        one.addEventListener("abort", leave);
      }
      await Promise.race([work.catch(() => {}), left]);
      for (const one of [signal, lost]) one.removeEventListener("abort", leave);
      if (signal.aborted || lost.aborted) throw new Again("this server drives the run already");
    }
    return await this.#drive(runId, options);
  }

  /** Leaves all of them; resolves when they are left. */
  async close(): Promise<void> {
    this.#leave.abort();
    await Promise.allSettled(this.#working.values());
  }

  async #work(runId: string): Promise<TakenOver> {
    const { signal } = this.#leave;
    try {
      return await this.#drive(runId, { signal, lost: signal });
    } catch (error) {
      if (Again.isInstance(error)) return undefined;
      throw error;
    }
  }
}
