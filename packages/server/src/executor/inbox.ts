/** What people say to a run that another server drives: a row with the request, and the answer of its driver in the same row. */
import {
  Again,
  type CancelOptions,
  createRunId,
  type Json,
  type JsonObject,
  type RunSignal,
} from "@millrace/contracts";
import type { SharedStore } from "@millrace/store";
import { ExecutorError, refuse, runNotLocalError } from "./errors.ts";
import { type LiveRun, writeUnstarted } from "./live-runs.ts";
import { signalRun } from "./signal-run.ts";

/** A request to the driver of a run. */
export type DriverRequest = { readonly signal: RunSignal } | { readonly cancel: CancelOptions };

/** How long an answer is waited for: longer than another server needs to take a run over from one that died. */
const ANSWER_MS = 20_000;
const QUEUE_LEASE_MS = 30_000;

/**
 * Leaves a request for the driver of a run, has it called by `ring`, and resolves with the answer. Throws `executor_unavailable`
 * when none comes; the request stays, and is obeyed when the run is driven again.
 */
export async function askDriver(
  { inbox }: SharedStore,
  {
    runId,
    request,
    ring,
  }: { readonly runId: string; readonly request: DriverRequest; readonly ring: () => void },
): Promise<Json> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const news = newsOf(inbox, { runId, waitsFor: "answers" }, late);
  try {
    const id = await inbox.send(runId, request as unknown as JsonObject);
    ring();
    for (;;) {
      const answer = await inbox.answerOf(id);
      if (answer !== undefined) return checked(answer);
      if (late.aborted) {
        const text = `no server has driven the run "${runId}" to answer within ${ANSWER_MS / 1_000} s`;
        throw refuse("executor_unavailable", text);
      }
      await news.next();
    }
  } finally {
    news.close();
  }
}

/** Tells when to look again; what comes during a look is not missed. */
function newsOf(
  inbox: SharedStore["inbox"],
  { runId, waitsFor }: { readonly runId: string; readonly waitsFor: "requests" | "answers" },
  signal: AbortSignal,
) {
  let isNew = false;
  let wake = (): void => {};
  const tell = (): void => {
    isNew = true;
    wake();
  };
  const unlisten = inbox.listen(runId, tell, { waitsFor });
  signal.addEventListener("abort", tell);
  return {
    /** Resolves when something may be new since the last call, or the signal aborts. */
    async next(): Promise<void> {
      if (!isNew && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      isNew = false;
    },
    close(): void {
      unlisten();
      signal.removeEventListener("abort", tell);
    },
  };
}

/** A refusal of the driver is thrown here as it was thrown there. */
function checked(answer: Json): Json {
  const { refused } = Object(answer) as { refused?: { code: "state_conflict"; state?: string } };
  if (refused === undefined) return answer;
  throw new ExecutorError(refused.code, "the run does not take it", {
    ...(refused.state !== undefined && { state: refused.state }),
  });
}

/** A run, live here or ended. */
interface Obeying {
  readonly runId: string;
  /** Undefined: it has ended. */
  readonly live: LiveRun | undefined;
}

/** Answers the requests that wait. Rejects with what the store refuses. */
export async function obey(store: SharedStore, { runId, live }: Obeying): Promise<void> {
  for (const { id, message } of await store.inbox.pending(runId)) {
    // A run that was left meanwhile knows nothing any more: its next driver answers.
    if (live?.run?.state === "left" || live?.run?.state === "lost") return;
    const request = message as unknown as DriverRequest;
    await store.inbox.answer({ id, runId }, await perform(store, { runId, live, request }));
  }
}

/** Obeys the requests to a live run until the signal aborts. Never rejects: a store that is away may be back for the next look. */
export async function obeyUntil(
  signal: AbortSignal,
  store: SharedStore,
  live: LiveRun,
): Promise<void> {
  const news = newsOf(store.inbox, { runId: live.runId, waitsFor: "requests" }, signal);
  try {
    while (!signal.aborted) {
      await obey(store, { runId: live.runId, live }).catch(() => {});
      await news.next();
    }
  } finally {
    news.close();
  }
}

async function perform(
  store: SharedStore,
  {
    runId,
    live,
    request,
  }: {
    readonly runId: string;
    readonly live: LiveRun | undefined;
    readonly request: DriverRequest;
  },
): Promise<Json> {
  if ("signal" in request) {
    return (await signalRun({ runId, live, store }, request.signal)) as unknown as Json;
  }
  if (live !== undefined && !live.log.ended) {
    await cancelRun(live, request.cancel);
    return null;
  }
  const run = await store.runs.summary(runId);
  return { refused: { code: "state_conflict", ...(run !== null && { state: run.status }) } };
}

/**
 * Cancels a run that is live here; resolves when its log says so, or nothing more follows. Throws `executor_unavailable` for one that
 * has gone from here meanwhile.
 */
export async function cancelRun(live: LiveRun, options: CancelOptions): Promise<void> {
  if (live.run?.cancel(options) === true) await live.until(() => live.state === "cancelling");
  if (live.isGone && live.state !== "cancelling") throw runNotLocalError(live.runId);
}

/** A run that has gone from here while it was spoken to is spoken to where it is. */
export function ifGone<T>(there: () => Promise<T>): (error: unknown) => Promise<T> {
  return async (error) => {
    const isGone = ExecutorError.isInstance(error) && error.code === "executor_unavailable";
    if (!isGone) throw error;
    return await there();
  };
}

/** A run that nobody has begun and somebody has cancelled ends with a log of one event. Throws `Again` when another server has it. */
export async function cancelUnstarted(store: SharedStore, runId: string): Promise<boolean> {
  const { inbox, journal } = store;
  const requests = await inbox.pending(runId);
  const cancels = requests.filter(({ message }) => Object.hasOwn(message, "cancel"));
  if (cancels.length === 0) return false;
  const owner = createRunId(store.now(), Math.random);
  const lease = await journal.lease(runId, owner, QUEUE_LEASE_MS);
  if (lease === null) throw new Again("another server has taken the run");
  await writeUnstarted(journal, { runId, epoch: lease.epoch }, store.now());
  for (const { id } of cancels) await inbox.answer({ id, runId }, null);
  return true;
}
