/** Streams of parts for providers that need no network. They obey the signal of the call as a request would. */
import type { AbortSignalLike, AiPart, AiStream } from "@millrace/contracts";
import { sleep, untilAborted } from "@millrace/contracts/kit";

/** A part, after a pause. `waitMs: null` waits until the call is aborted. */
export interface TimedPart {
  readonly part?: AiPart;
  /** Thrown in place of a part: the connection broke. */
  readonly error?: unknown;
  readonly waitMs?: number | null;
}

/** The parts in their order. A read rejects with the reason of the signal once it is aborted; `cancel` ends the stream. */
export function streamOf(
  parts: Iterable<TimedPart>,
  signal: AbortSignalLike | undefined,
): AiStream {
  const source = parts[Symbol.iterator]();
  let cancelled = false;
  return {
    getReader: () => ({
      async read() {
        if (signal?.aborted === true) throw signal.reason;
        if (cancelled) return { done: true };
        const { done, value } = source.next();
        if (done === true) return { done: true };
        const { waitMs = 0, error, part } = value;
        if (waitMs === null) await untilAborted(new Promise(() => {}), signal);
        else if (waitMs > 0) await sleep(waitMs, signal);
        if (error !== undefined) throw error;
        return part === undefined ? { done: true } : { done: false, value: part };
      },
      async cancel() {
        cancelled = true;
        source.return?.();
      },
    }),
  };
}
