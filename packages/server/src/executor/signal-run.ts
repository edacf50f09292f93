/** Signals to a run: an answer of a person, a pause, a resume. Resolves when the log shows the effect. */
import type { RunSignal, SignalResult } from "@millrace/contracts";
import { EngineError } from "@millrace/engine";
import type { Store } from "@millrace/store";
import { runNotLocalError } from "./errors.ts";
import type { LiveRun } from "./live-runs.ts";

/** The run that gets the signal. `live` undefined: it is not live in this process. */
interface Addressee {
  readonly runId: string;
  readonly live: LiveRun | undefined;
  readonly store: Store;
}

type Confirm = Extract<RunSignal, { kind: "confirm" }>;

/** Delivers a signal. Throws `ExecutorError` `executor_unavailable` when the run is lost meanwhile. */
export function signalRun(to: Addressee, signal: RunSignal): Promise<SignalResult> {
  return signal.kind === "confirm" ? answer(to, signal) : steer(to, signal.kind);
}

async function answer({ runId, live, store }: Addressee, signal: Confirm): Promise<SignalResult> {
  const { kind: _kind, id, ...given } = signal;
  const reply = await live?.run?.confirm(id, given).catch((error: unknown) => {
    throw EngineError.isInstance(error) ? runNotLocalError(runId) : error;
  });
  if (reply !== undefined && (reply.ok || reply.code === "value_invalid")) return reply;
  // Another answer was first, and may be on its way to the store. An ended run no longer answers, but the store does.
  const status = async () => (await store.confirmations.get(runId, id))?.status;
  if (reply !== undefined && reply.code !== "not_found") {
    await live?.until(async () => (await status()) !== "requested");
  }
  const outcome = await status();
  // The run asks this where it is driven now, which is not here any more.
  if (reply !== undefined && outcome === "requested") throw runNotLocalError(runId);
  if (outcome === undefined || outcome === "requested") return { ok: false, code: "not_found" };
  const code = outcome === "expired" ? "confirmation_expired" : "already_resolved";
  return { ok: false, code, outcome };
}

/** Doing it twice is doing it once. */
async function steer(
  { runId, live, store }: Addressee,
  kind: "pause" | "resume",
): Promise<SignalResult> {
  if (live === undefined && (await store.runs.summary(runId)) === null) {
    return { ok: false, code: "not_found" };
  }
  const run = live?.run;
  const isDone = kind === "pause" && run?.paused === "operator";
  const isTold = isDone || (kind === "pause" ? run?.pause() : run?.resume());
  if (live === undefined || !isTold) return { ok: false, code: "state_conflict" };
  const isShown = (): boolean => (live.pauseReason !== null) === (kind === "pause");
  // A run that waits for a person is paused as it is; it says so once more when the answer is there.
  await live.until(() => isShown() || isAsking(live));
  if (live.isGone && !isShown()) throw runNotLocalError(runId);
  return { ok: true };
}

/** Whether people are the only ones that the run waits for, in the engine and in its log. */
export function isAsking({ run, pauseReason }: LiveRun): boolean {
  return run?.paused === "confirmation" && pauseReason === "confirmation";
}
