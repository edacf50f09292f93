/** Requests to a run that another process drives: a row with the request, in which the driver writes its answer. */
import {
  Again,
  type CancelOptions,
  createRunId,
  type Json,
  type JsonObject,
  type RunSignal,
} from "@millrace/contracts";
import type { Inbox, SharedStore } from "@millrace/store";
import { ExecutorError, refuse, runEndedError, runNotLocalError } from "./errors.ts";
import { type LiveRun, writeUnstarted } from "./live-runs.ts";
import { signalRun } from "./signal-run.ts";

export type DriverRequest = { readonly signal: RunSignal } | { readonly cancel: CancelOptions };

/** How long an answer is waited for: longer than another server needs to take a run over from one that died. */
const ANSWER_MS = 20_000;
const QUEUE_LEASE_MS = 30_000;
/** How often a driver that is to be looked after is looked for. */
const LOOK_MS = 500;

interface Asking {
  readonly runId: string;
  readonly request: DriverRequest;
  /** Has the driver called. */
  readonly ring?: () => void;
  /** Sees to it that there is a driver, twice a second. False: nobody will answer any more. */
  readonly look?: () => Promise<boolean>;
}

/**
 * Leaves a request for the driver of a run, and resolves with the answer; undefined: `look` says that there will be none. Throws
 * `executor_unavailable` when none comes; the request stays, and is obeyed when the run is driven again.
 */
export async function askDriver(
  { inbox }: { readonly inbox: Inbox },
  { runId, request, ring, look }: Asking,
): Promise<Json | undefined> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const news = inbox.news(runId, "answers", late);
  try {
    const id = await inbox.send(runId, request as unknown as JsonObject);
    ring?.();
    for (;;) {
      const isDriven = (await look?.()) !== false; // asked first: what it answered before it went is seen
      const answer = await inbox.answerOf(id);
      if (answer !== undefined) return checked(answer);
      if (!isDriven) return undefined;
      if (late.aborted) {
        const text = `nobody has driven the run "${runId}" to answer within ${ANSWER_MS / 1_000} s`;
        throw refuse("executor_unavailable", text);
      }
      await news.next(look && LOOK_MS);
    }
  } finally {
    news.close();
  }
}

/** A refusal of the driver is thrown here as it was thrown there. */
function checked(answer: Json): Json {
  const { refused } = Object(answer) as { refused?: { code: "state_conflict"; state?: string } };
  if (refused === undefined) return answer;
  throw new ExecutorError(refused.code, "the run does not take it", {
    ...(refused.state !== undefined && { state: refused.state }),
  });
}

interface ObeyingAll {
  readonly runId: string;
  /** Does one, and resolves with its answer; a refusal with `state_conflict` is an answer too. */
  perform(request: DriverRequest): Promise<unknown>;
  /** True: what still waits is left to another driver. */
  isGone?(): boolean;
}

/** Answers the requests that wait, one after another. Rejects with what the store refuses, and with any other refusal. */
export async function obeyAll(inbox: Inbox, { runId, perform, isGone }: ObeyingAll): Promise<void> {
  for (const { id, message } of await inbox.pending(runId)) {
    if (isGone?.()) return;
    const answer = await answerOf(perform(message as unknown as DriverRequest));
    await inbox.answer({ id, runId }, answer);
  }
}

async function answerOf(work: Promise<unknown>): Promise<Json> {
  try {
    return ((await work) ?? null) as Json;
  } catch (error) {
    if (!ExecutorError.isInstance(error) || error.code !== "state_conflict") throw error;
    return {
      refused: { code: error.code, ...(error.state !== undefined && { state: error.state }) },
    };
  }
}

/** Answers the requests to a run that a server of many drives; `live` undefined: it has ended. */
export async function obey(
  store: SharedStore,
  { runId, live }: { readonly runId: string; readonly live: LiveRun | undefined },
): Promise<void> {
  await obeyAll(store.inbox, {
    runId,
    // A run that was left meanwhile knows nothing any more: its next driver answers.
    isGone: () => live?.run?.state === "left" || live?.run?.state === "lost",
    perform: async (request) => {
      if ("signal" in request) return signalRun({ runId, live, store }, request.signal);
      if (live !== undefined && !live.log.ended) return cancelRun(live, request.cancel);
      const run = await store.runs.summary(runId);
      throw run === null
        ? refuse("state_conflict", "there is no such run")
        : runEndedError(run.status);
    },
  });
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
