/** Streams of parts for providers that need no network. They obey the signal of the call as a request would. */
import type { AbortSignalLike, AiPart, AiStream } from "@millrace/contracts";

/** A part, after a pause. `wait: null` waits until the call is aborted. */
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
        if (waitMs !== 0) await pause(waitMs, signal);
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

/** Ends after `ms`, never for null, and rejects with the reason of the signal as soon as it is aborted. */
function pause(ms: number | null, signal: AbortSignalLike | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer =
      ms === null
        ? undefined
        : setTimeout(() => {
            signal?.removeEventListener("abort", onAbort);
            resolve();
          }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
  });
}
