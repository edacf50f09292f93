/**
 * The lock of a credential entry. Locks are given by the caller; whatever one of them does:
 *   K1  Waiting has a time limit, and every failure is an `OAuthError`.
 *   K2  A lock that cannot say that it is held is lost.
 *   K3  A failed release is ignored: the lock goes stale, and the work done under it counts.
 */
import { withDeadline } from "./deadline.ts";
import { OAuthError } from "./errors.ts";
import { accountFor } from "./stored-token.ts";
import type { Lock } from "./types.ts";

/** Longer than a token request may take, shorter than a person waits. */
const LOCK_WAIT_MS = 45_000;

/** A lock that was taken. Neither of the two throws. */
export interface Hold {
  held(): Promise<boolean>;
  release(): Promise<void>;
}

/** Used when no lock is given. */
const ALONE: Hold = { held: async () => true, release: async () => {} };

/** Takes the lock of an account, where there is a lock. Throws `OAuthError` kind `Credential`; an abort rejects with its reason. */
export async function holdEntry(
  lock: Lock | undefined,
  account: string,
  signal?: AbortSignal,
): Promise<Hold> {
  if (!lock) return ALONE;
  const granted = await acquire(lock, account, signal);
  return {
    async held() {
      try {
        return await granted.held();
      } catch {
        return false;
      }
    },
    async release() {
      try {
        await granted.release();
      } catch {
        // K3
      }
    },
  };
}

/** Does `work` while no other caller changes the entry of a connection. Throws as the wait for the lock does. */
export async function withEntryLock<T>(
  lock: Lock | undefined,
  slug: string,
  work: () => Promise<T>,
): Promise<T> {
  const hold = await holdEntry(lock, accountFor(slug));
  try {
    return await work();
  } finally {
    await hold.release();
  }
}

async function acquire(lock: Lock, account: string, signal?: AbortSignal): Promise<Hold> {
  let waiting: Promise<Hold> | undefined;
  try {
    const timeout = { ms: LOCK_WAIT_MS, error: lockTimeout };
    return await withDeadline({ signal, timeout }, () => {
      waiting = lock.acquire(account, { timeoutMs: LOCK_WAIT_MS, signal });
      return waiting;
    });
  } catch (cause) {
    // It may still be granted after the wait has ended.
    waiting?.then((hold) => hold.release()).catch(() => {});
    if (OAuthError.isInstance(cause) || signal?.aborted) throw cause;
    throw new OAuthError(
      "Credential",
      `credential store: the lock of "${account}" could not be taken. Check that its folder can be written, then try again.`,
      { reason: "unavailable", cause },
    );
  }
}

function lockTimeout(): OAuthError {
  return new OAuthError(
    "Credential",
    `credential store: another process held the lock for ${LOCK_WAIT_MS / 1000} s. Try again.`,
    { reason: "lock_timeout" },
  );
}
