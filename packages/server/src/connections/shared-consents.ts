/**
 * Consents that wait for a person, in the credential store of all servers, sealed as credentials are: another server than the one that began
 * a consent may finish it, cancel it, or say how it ended.
 *   C1  Its code is used once: who takes it empties the entry first.
 *   C2  Once it has ended nothing but its end is kept, and that for ten minutes.
 */
import type { ConnectProgress } from "@millrace/contracts";
import { type CredentialStore, type Lock, withEntryLock } from "@millrace/oauth";
import type { OAuthClient } from "./oauth-client.ts";
import { KEPT_MS } from "./pending-connects.ts";
import type { ConnectionRecord } from "./records.ts";

/** What finishes a consent. */
export interface ConsentSecrets {
  readonly record: ConnectionRecord;
  readonly client: OAuthClient;
  readonly byCaller: boolean;
  readonly state: string;
  readonly verifier: string | undefined;
  readonly redirectUri: string;
}

/** A consent as it is kept. Without `secrets` its code was taken, or it has ended. */
export interface KeptConsent {
  readonly slug: string;
  readonly expiresEpoch: number;
  readonly progress: ConnectProgress;
  readonly secrets?: ConsentSecrets;
}

const PREFIX = "connect:";

export class SharedConsents {
  readonly #store: CredentialStore;
  readonly #lock: Lock;
  readonly #now: () => number;

  constructor(parts: {
    readonly store: CredentialStore;
    readonly lock: Lock;
    readonly now: () => number;
  }) {
    this.#store = parts.store;
    this.#lock = parts.lock;
    this.#now = parts.now;
  }

  async get(id: string): Promise<KeptConsent | undefined> {
    const text = await this.#store.get(PREFIX + id);
    const kept = text ? (JSON.parse(text) as KeptConsent) : undefined;
    if (kept?.progress.state !== "waiting" || this.#now() < kept.expiresEpoch) return kept;
    const { secrets: _, ...rest } = kept;
    return { ...rest, progress: { state: "expired" } };
  }

  async put(id: string, kept: KeptConsent): Promise<void> {
    await this.#store.set(PREFIX + id, JSON.stringify(kept));
  }

  /** Takes the one use of its code; false when it was taken, or the consent has ended. */
  take(id: string): Promise<boolean> {
    return withEntryLock(this.#lock, PREFIX + id, async () => {
      const { secrets, ...rest } = (await this.get(id)) ?? {};
      if (secrets === undefined) return false;
      await this.put(id, rest as KeptConsent);
      return true;
    });
  }

  /** Forgets those that ended long ago, whoever has begun them. */
  async prune(): Promise<void> {
    for (const account of (await this.#store.list?.()) ?? []) {
      if (!account.startsWith(PREFIX)) continue;
      const kept = await this.get(account.slice(PREFIX.length));
      if (kept !== undefined && kept.expiresEpoch + KEPT_MS <= this.#now()) {
        await this.#store.delete(account);
      }
    }
  }
}
