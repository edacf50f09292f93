/** The logs of runs that other servers drive: each is followed once, however many readers it has here. */
import { UnorderedMap } from "@millrace/contracts/kit";
import type { Store } from "@millrace/store";
import { throwRunNotFound } from "./errors.ts";
import { RunLog } from "./run-log.ts";

interface Followed {
  readonly log: RunLog;
  readonly unfollow: () => void;
  readers: number;
}

/** The log of a run, until `close`. */
export interface FollowedLog {
  readonly log: RunLog;
  readonly close: () => void;
}

export class FollowedLogs {
  readonly #store: Pick<Store, "journal" | "runs">;
  readonly #logs = new UnorderedMap<Followed>();

  constructor(store: Pick<Store, "journal" | "runs">) {
    this.#store = store;
  }

  /** Throws `ExecutorError` `not_found`. */
  async open(runId: string): Promise<FollowedLog> {
    const run = (await this.#store.runs.summary(runId)) ?? throwRunNotFound(runId);
    const known = this.#logs.get(runId);
    const followed = known ?? this.#follow(runId, run.lastSeq);
    // one that is followed already has its last events on their way, and ends with them
    if (run.endedAt !== null && known === undefined) followed.log.end();
    followed.readers += 1;
    return { log: followed.log, close: () => this.#close(runId, followed) };
  }

  #follow(runId: string, after: number): Followed {
    const { journal } = this.#store;
    const log = new RunLog(journal, runId, after);
    const unfollow = journal.follow(runId, after, (events) => {
      log.append(events.map(({ seq, kind, line }) => ({ seq, kind, line })));
      if (events.at(-1)?.kind === "summary") log.end();
    });
    const followed = { log, unfollow, readers: 0 };
    this.#logs.set(runId, followed);
    return followed;
  }

  #close(runId: string, followed: Followed): void {
    followed.readers -= 1;
    if (followed.readers > 0) return;
    followed.unfollow();
    if (this.#logs.get(runId) === followed) this.#logs.delete(runId);
  }
}
