/** A credential store in the memory of the process: for tests, and for programs that persist nothing. */
import { withDeadline } from "../deadline.ts";
import { OAuthError } from "../errors.ts";
import type { CredentialStore, Lock } from "../types.ts";

/** A store that forgets everything with the process. `initial` is its content by account: `{ "service:tracker": "…" }`. */
export function memoryCredentialStore(
  initial: Readonly<Record<string, string>> = {},
): CredentialStore {
  const entries = new Map(Object.entries(initial));
  return {
    get: async (account) => entries.get(account),
    set: async (account, value) => {
      entries.set(account, value);
    },
    delete: async (account) => entries.delete(account),
    list: async () => [...entries.keys()],
  };
}

/** A lock among the callers of this process, for a store that no other process has. It is waited for in the order of the calls. */
export function memoryLock(): Lock {
  const last = new Map<string, Promise<void>>();
  return {
    async acquire(key, { timeoutMs, signal }) {
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
      const message = `credential store: the entry was busy for ${timeoutMs / 1000} s. Try again.`;
      const error = () => new OAuthError("Credential", message, { reason: "lock_timeout" });
      try {
        await withDeadline({ signal, timeout: { ms: timeoutMs, error } }, () => before);
      } catch (failure) {
        release();
        throw failure;
      }
      return { held: async () => true, release: async () => release() };
    },
  };
}
