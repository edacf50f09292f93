/**
 * The lock of a credential entry. Whoever writes or deletes one takes it, so that a renewal under way cannot bring back
 * what has just been replaced.
 */
import { accountFor, type Lock, OAuthError } from "@millrace/oauth";

/** Longer than a renewal takes. */
const WAIT_MS = 45_000;

/** Does `work` while nobody else changes the entry of a connection. Throws `OAuthError` kind `Credential` when it must wait too long. */
export async function withEntryLock<T>(
  lock: Lock,
  slug: string,
  work: () => Promise<T>,
): Promise<T> {
  const hold = await lock.acquire(accountFor(slug), { timeoutMs: WAIT_MS });
  try {
    return await work();
  } finally {
    await hold.release().catch(() => {}); // it goes stale by itself; what was done counts
  }
}

/** A lock among the callers of this process, for a store that no other process has. */
export function processLock(): Lock {
  const last = new Map<string, Promise<void>>();
  return {
    async acquire(key, { timeoutMs, signal }) {
      signal?.throwIfAborted();
      const before = last.get(key) ?? Promise.resolve();
      let release = (): void => {};
      const mine = new Promise<void>((resolve) => {
        release = resolve;
      });
      const turn = before.then(() => mine);
      last.set(key, turn);
      void turn.then(() => {
        if (last.get(key) === turn) last.delete(key);
      });
      try {
        await untilTurn(before, timeoutMs, signal);
      } catch (error) {
        release();
        throw error;
      }
      return { held: async () => true, release: async () => release() };
    },
  };
}

function untilTurn(
  before: Promise<void>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      end();
    };
    const onAbort = (): void => settle(() => reject(signal?.reason));
    const timer = setTimeout(() => {
      const message = `credential store: the entry was busy for ${timeoutMs / 1000} s. Try again.`;
      settle(() => reject(new OAuthError("Credential", message, { reason: "lock_timeout" })));
    }, timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    void before.then(() => settle(resolve));
  });
}
