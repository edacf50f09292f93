/**
 * A stream over as many connections as that takes, such as a log to its summary.
 *   F1  Items come in the order of their positions, each once, however often the connection is cut.
 *   F2  What a wait can mend is tried again after a pause that grows; anything else is thrown.
 */
import { sleep } from "@millrace/contracts/kit";
import { ClientError } from "./error.ts";
import { SILENCE_MS } from "./event-stream.ts";

/** First pause after a cut; it doubles. */
const FIRST_DELAY_MS = 250;
/** Longest pause: two tries a minute for as long as the server is away. */
const MAX_DELAY_MS = 30_000;
/** A timer of more fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Tries in a row without an event before a reader gives up: some three minutes. */
const MAX_TRIES = 12;
/** A connection that was open for so long was good, though nothing happened: something between here and there cut it. */
const GOOD_MS = 60_000;

/** A connection takes longer to be made than to say something. */
const MIN_ANSWER_MS = 1_000;

/** How often, and how slowly, a broken connection is tried again. */
export interface Retrying {
  /**
   * Tries in a row without an event before a reader gives up; default 12, some three minutes. A connection that was open for a
   * minute begins the count anew.
   */
  readonly maxTries?: number;
  /** Longest pause between two tries, in milliseconds; default 30 s. */
  readonly maxDelayMs?: number;
}

/** How one stream is read. */
export interface Following<T> {
  /** Opens it after a position; null: nothing is left. The signal ends the request and its answer. */
  readonly open: (after: number | undefined, signal: AbortSignal) => Promise<Response | null>;
  /** The items of an answer. */
  readonly read: (response: Response) => AsyncIterable<T>;
  /** Where an item stands; undefined for streams without positions. */
  readonly positionOf: (item: T) => number | undefined;
  /** Whether nothing follows an item. */
  readonly isLast: (item: T) => boolean;
  /** Position of the last item that the reader has. */
  readonly after: number | undefined;
  /** How long nothing may come: no answer, and nothing of it; default 45 s. */
  readonly silenceMs?: number | undefined;
  readonly retry?: Retrying | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Yields the items of a stream. Throws `ClientError`, or the reason of the signal. */
export async function* follow<T>(following: Following<T>): AsyncGenerator<T, void> {
  const { open, read, positionOf, isLast, silenceMs = SILENCE_MS, signal, retry = {} } = following;
  const { maxTries = MAX_TRIES, maxDelayMs = MAX_DELAY_MS } = retry;
  const answerMs = Math.max(silenceMs, MIN_ANSWER_MS);
  let after = following.after;
  for (let tries = 1; ; tries += 1) {
    let failure = new ClientError("unreachable", "the stream ended before its run");
    // One a try: a peer that takes a connection and answers nothing is as gone as one that takes none.
    const request = new AbortController();
    const either = AbortSignal.any(signal ? [signal, request.signal] : [request.signal]);
    const timer = setTimeout(() => {
      request.abort(new ClientError("unreachable", `no answer came for ${answerMs} ms`));
    }, answerMs);
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      const response = await open(after, either);
      clearTimeout(timer);
      if (response === null) return;
      openedAt = Date.now();
      for await (const item of read(response)) {
        tries = 0;
        const position = positionOf(item) ?? Number.POSITIVE_INFINITY;
        if (position <= (after ?? 0)) continue;
        if (Number.isFinite(position)) after = position;
        yield item;
        if (isLast(item)) return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!ClientError.isInstance(error) || !error.retryable) throw error;
      failure = error;
    } finally {
      clearTimeout(timer);
    }
    if (Date.now() - openedAt >= GOOD_MS) tries = 0;
    if (tries >= maxTries) throw failure;
    const pauseMs = Math.max(failure.retryAfterMs ?? 0, delayMs(tries, maxDelayMs));
    await sleep(Math.min(pauseMs, MAX_TIMER_MS), signal);
  }
}

/** Random, so that readers that were cut off together do not return together. */
function delayMs(tries: number, maxDelayMs: number): number {
  return Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** tries) * (0.5 + Math.random() / 2);
}
