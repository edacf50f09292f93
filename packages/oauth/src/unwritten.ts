import type { CredentialStore, OAuthToken } from "./types.ts";

/** A renewed token that the store has refused so far. */
export interface Owed {
  readonly token: OAuthToken;
  /** The stored text it was renewed from; when the store holds another one, nothing is owed any more. */
  readonly replaces: string;
}

/** The tokens that are only in memory, by store object and account. */
export class Unwritten {
  readonly #owed = new WeakMap<CredentialStore, Map<string, Owed>>();

  has(store: CredentialStore, account: string): boolean {
    return this.get(store, account) !== undefined;
  }

  get(store: CredentialStore, account: string): Owed | undefined {
    return this.#owed.get(store)?.get(account);
  }

  set(store: CredentialStore, account: string, owed: Owed): void {
    const ofStore = this.#owed.get(store) ?? new Map<string, Owed>();
    this.#owed.set(store, ofStore.set(account, owed));
  }

  delete(store: CredentialStore, account: string): void {
    this.#owed.get(store)?.delete(account);
  }
}
