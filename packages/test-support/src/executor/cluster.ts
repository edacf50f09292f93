/** Servers of one cluster in one process: rings of all go to any that serves, and a call of the executor to any server. */
import {
  Again,
  type Dispatcher,
  DispatcherError,
  type Drive,
  type DriveResult,
  type Executor,
} from "@millrace/contracts";

interface Serving {
  readonly drive: Drive;
  /** Of each drive at work, what tells it to leave. */
  readonly working: Map<AbortController, Promise<unknown>>;
}

/** How long a run waits that no server could drive. */
const AGAIN_MS = 20;

/** A dispatcher that hands each ring to one of the servers that serve, chosen by `pick` from so many. */
export class TestCluster {
  readonly #servers: Serving[] = [];
  /** Runs that are driven, and whether they were rung meanwhile. */
  readonly #driven = new Map<string, boolean>();
  readonly #pick: (count: number) => number;
  readonly #lost = new AbortController().signal;

  constructor(pick: (count: number) => number) {
    this.#pick = pick;
  }

  /** The dispatcher of one more server. */
  join(): Dispatcher {
    let serving: Serving | undefined;
    return {
      condition: "ok",
      ring: async (runId, { delayMs = 0 } = {}) => {
        if (delayMs > 0) setTimeout(() => this.#ring(runId), delayMs).unref();
        else this.#ring(runId);
      },
      serve: async (drive) => {
        if (serving !== undefined) throw new DispatcherError("dispatcher_serves", "it serves");
        serving = { drive, working: new Map() };
        this.#servers.push(serving);
      },
      close: async () => {
        if (serving === undefined) return;
        const at = this.#servers.indexOf(serving);
        if (at >= 0) this.#servers.splice(at, 1);
        for (const leave of serving.working.keys()) leave.abort();
        await Promise.allSettled(serving.working.values());
      },
    };
  }

  #ring(runId: string): void {
    if (this.#driven.has(runId)) this.#driven.set(runId, true);
    else void this.#work(runId);
  }

  async #work(runId: string): Promise<void> {
    this.#driven.set(runId, false);
    const next = await this.#drive(runId);
    const isRung = this.#driven.get(runId) === true;
    this.#driven.delete(runId);
    if (isRung) this.#ring(runId);
    else if (next !== "done") setTimeout(() => this.#ring(runId), next.again).unref();
  }

  async #drive(runId: string): Promise<DriveResult> {
    const server = this.#servers[this.#pick(this.#servers.length)];
    if (server === undefined) return { again: AGAIN_MS };
    const leave = new AbortController();
    const work = server.drive(runId, { signal: leave.signal, lost: this.#lost });
    server.working.set(leave, work);
    try {
      return await work;
    } catch (error) {
      if (!Again.isInstance(error)) process.emitWarning(String(error));
      return { again: AGAIN_MS };
    } finally {
      server.working.delete(leave);
    }
  }
}

/** An executor whose calls go to any of these. */
export function anyOf(executors: readonly Executor[], pick: (count: number) => number): Executor {
  const one = (): Executor => executors[pick(executors.length)] as Executor;
  return {
    kind: one().kind,
    start: (spec, rows) => one().start(spec, rows),
    signal: (runId, signal) => one().signal(runId, signal),
    cancel: (runId, options) => one().cancel(runId, options),
    attach: (runId, options) => one().attach(runId, options),
    get: (runId) => one().get(runId),
    list: (query) => one().list(query),
    recover: () => one().recover(),
    close: (options) => one().close(options),
  };
}
