/** A credential store in the memory of the process: for tests, and for programs that persist nothing. */
import type { CredentialStore } from "../types.ts";

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
