/** The credentials of all servers of a cluster, in the store that they share. */
import { sleep } from "@millrace/contracts/kit";
import { type Lock, OAuthError } from "@millrace/oauth";
import type { SharedStore } from "@millrace/store";
import type { OpenedStore } from "../connections/index.ts";

/** Between two tries to get a lock that another caller has: a token request takes some hundred milliseconds. */
const AGAIN_MS = 100;

/** The store of credentials and its lock, which hold for all servers. */
export function openSharedCredentials({ credentials }: SharedStore): OpenedStore {
  const lock: Lock = {
    async acquire(key, { timeoutMs, signal }) {
      const giveUpAt = performance.now() + timeoutMs;
      for (;;) {
        const lease = await credentials.lease(key);
        if (lease !== undefined) return lease;
        if (performance.now() >= giveUpAt) {
          const text = `credential store: another server had the entry for ${timeoutMs / 1_000} s. Try again.`;
          throw new OAuthError("Credential", text, { reason: "lock_timeout" });
        }
        await sleep(AGAIN_MS, signal);
      }
    },
  };
  return { store: credentials, name: "shared", lock, close: async () => {} };
}
