/**
 * Idempotency keys, in memory: a second request with the same key gets the answer of the first.
 *   K1  A key belongs to one token and one command.
 *   K2  The work behind a key is done once as long as the key is kept. What a later try may change, a failure of the server
 *       or a full queue, is not kept.
 */

import { ProblemError } from "../errors.ts";
import { canonicalHash } from "./canonical-json.ts";

/** How long a key is kept. A day: long enough for any retry of a job that failed over night. */
const KEY_TTL_MS = 24 * 3_600_000;
/** Keys kept at most; the oldest go first. */
const MAX_KEYS = 10_000;

const BUSY = 429;

/** Header of an answer that is that of an earlier call. */
export const REPLAYED: { readonly [name: string]: string } = { "Idempotent-Replayed": "true" };

const KEY = /^[\x21-\x7e]{1,128}$/;

interface Entry {
  readonly fingerprint: string;
  readonly expiresAt: number;
  readonly work: Promise<unknown>;
  done: boolean;
}

/** A request as idempotency sees it. */
export interface KeyedCall {
  readonly tokenId: string | null;
  readonly command: string;
  /** The value of `Idempotency-Key`; undefined: the work is simply done. */
  readonly key: string | undefined;
  readonly args: unknown;
  /** Whether a second request may wait for the first; otherwise it is refused while that one works. */
  readonly joins: boolean;
}

/** What came of a call; `replayed` when the work was that of an earlier one. */
export interface KeyedResult<T> {
  readonly value: T;
  readonly replayed: boolean;
}

/** Answers kept by idempotency key, so that a repeated request has one effect. */
export class IdempotencyKeys {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Does `work`, or answers what the first call with this key did. Throws `bad_idempotency_key`, `idempotency_mismatch`
   * for a key with other args, `idempotency_in_flight`.
   */
  async run<T>(call: KeyedCall, work: () => Promise<T>): Promise<KeyedResult<T>> {
    if (call.key === undefined) return { value: await work(), replayed: false };
    if (!KEY.test(call.key)) {
      throw new ProblemError("bad_idempotency_key", {
        detail: "A key is 1 to 128 visible ASCII characters",
      });
    }
    const scope = `${call.tokenId ?? ""}\n${call.command}\n${call.key}`;
    const fingerprint = canonicalHash(call.args);
    const known = this.#entries.get(scope);
    if (known !== undefined && known.expiresAt > this.#now()) {
      if (known.fingerprint !== fingerprint) throw new ProblemError("idempotency_mismatch");
      if (!known.done && !call.joins) throw new ProblemError("idempotency_in_flight");
      return { value: (await known.work.catch(replayProblem)) as T, replayed: true };
    }
    return { value: await this.#begin(scope, fingerprint, work), replayed: false };
  }

  async #begin<T>(scope: string, fingerprint: string, work: () => Promise<T>): Promise<T> {
    const promise = work();
    const entry: Entry = {
      fingerprint,
      expiresAt: this.#now() + KEY_TTL_MS,
      work: promise,
      done: false,
    };
    this.#entries.delete(scope);
    this.#entries.set(scope, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_KEYS) break;
      this.#entries.delete(oldest);
    }
    try {
      return await promise;
    } catch (error) {
      if (!isFinal(error) && this.#entries.get(scope) === entry) this.#entries.delete(scope);
      throw error;
    } finally {
      entry.done = true;
    }
  }
}

/** Whether the same request would be refused again. */
function isFinal(error: unknown): boolean {
  return ProblemError.isInstance(error) && error.status < 500 && error.status !== BUSY;
}

/** The refusal of the first call, as that of a later one. */
function replayProblem(error: unknown): never {
  if (!ProblemError.isInstance(error)) throw error;
  const { headers, ...options } = error.options;
  throw new ProblemError(error.code, { ...options, headers: { ...headers, ...REPLAYED } });
}
