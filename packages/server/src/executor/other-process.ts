/** Runs that another process of this machine works on: what is said to one is left in its inbox, and its log is read from the store. */
import { setTimeout as pause } from "node:timers/promises";
import type { Json, StoredEvent } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { askDriver, type DriverRequest } from "./inbox.ts";

/** How often the log of a run that another process works on is looked at: a person sees no difference to at once. */
const LOOK_MS = 200;

/** The runs of this process. */
export interface Here {
  readonly store: Store;
  isLive(runId: string): boolean;
  /** Takes up a run that was left. */
  takeUp(runId: string): Promise<void>;
}

/**
 * Says something to a run, and resolves with the answer of the process that works on it; undefined: it is live here or has ended, so it
 * is to be said here. A run that was left is taken up first.
 */
export async function askOther(
  { store: { inbox, runs }, isLive, takeUp }: Here,
  { runId, request }: { readonly runId: string; readonly request: DriverRequest },
): Promise<Json | undefined> {
  if (inbox === undefined || isLive(runId)) return undefined;
  /** Whether another process is there to answer, or this one has taken the run up to do so. */
  const look = async (): Promise<boolean> => {
    const run = isLive(runId) ? null : await runs.summary(runId);
    if (run === null || run.endedAt !== null) return isLive(runId);
    if ((await runs.worker(runId)) !== null) return true;
    await takeUp(runId).catch(async (error: unknown) => {
      if ((await runs.worker(runId)) === null) throw error; // else another process was faster
    });
    return true;
  };
  if (!(await look()) || isLive(runId)) return undefined;
  return await askDriver({ inbox }, { runId, request, look });
}

/** The stored pages of a log from behind `after`, as long as another process works on the run and it is not live here. */
export async function* readOther(
  { store: { journal, runs }, isLive }: Pick<Here, "store" | "isLive">,
  runId: string,
  { after, signal }: { readonly after: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<readonly StoredEvent[], void> {
  for (let at = after; !isLive(runId); ) {
    // Asked before the log is read: what is written afterwards is seen by the next look.
    const goesOn = (await runs.worker(runId)) !== null;
    for await (const page of journal.read(runId, at)) {
      if (signal?.aborted) return;
      yield page;
      at = page.at(-1)?.seq ?? at;
    }
    if (!goesOn || signal?.aborted) return;
    await pause(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}
