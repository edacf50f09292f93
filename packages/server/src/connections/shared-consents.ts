/**
 * Consents that wait for a person, in the credential store of all servers, sealed as credentials are: another server than the one that began
 * a consent may finish it, cancel it, or say how it ended.
 *   C1  Its code is used once: who takes it empties the entry first.
 *   C2  Once it has ended nothing but its end is kept, and that for ten minutes.
 *   C3  The first end counts, whichever server says it; one that was only said to be expired may still be told how it ended.
 */
import type { ConnectProgress } from "@millrace/contracts";
import { type CredentialStore, type Lock, withEntryLock } from "@millrace/oauth";
import type { OAuthClient } from "./oauth-client.ts";
import { KEPT_MS } from "./pending-connects.ts";
import type { ConnectionRecord } from "./records.ts";

/** Data that is needed to finish a consent. */
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
/** Ends that are kept, so that a caller in a loop does not fill the store. */
const MAX_ENDS = 256;
const OPEN: ReadonlySet<string> = new Set<ConnectProgress["state"]>(["waiting", "expired"]);

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

  /**
   * Says how it ended, and keeps nothing else of it; false when it had ended before, or is not known. `before` is done first, while no
   * other server ends it.
   */
  end(id: string, progress: ConnectProgress, before?: () => Promise<void>): Promise<boolean> {
    return withEntryLock(this.#lock, PREFIX + id, async () => {
      const kept = await this.get(id);
      if (kept === undefined || !OPEN.has(kept.progress.state)) return false;
      await before?.();
      await this.put(id, { slug: kept.slug, expiresEpoch: kept.expiresEpoch, progress });
      return true;
    });
  }

  /** Ends those of a connection that wait, whoever has begun them. */
  async endAll(slug: string, progress: ConnectProgress): Promise<void> {
    for (const [id, kept] of await this.#all()) {
      if (kept.slug === slug && kept.progress.state === "waiting") await this.end(id, progress);
    }
  }

  /** Forgets those that ended long ago, whoever has begun them, and the oldest of too many. */
  async prune(): Promise<void> {
    const ended = [...(await this.#all())]
      .filter(([, { progress }]) => progress.state !== "waiting")
      .sort(([, one], [, other]) => other.expiresEpoch - one.expiresEpoch);
    for (const [at, [id, { expiresEpoch, progress }]] of ended.entries()) {
      if (at >= MAX_ENDS || expiresEpoch + KEPT_MS <= this.#now()) {
        await this.#store.delete(PREFIX + id);
      } else if (progress.state === "expired") await this.end(id, progress); // secrets of a server that is gone
    }
  }

  async #all(): Promise<ReadonlyMap<string, KeptConsent>> {
    const all = new Map<string, KeptConsent>();
    for (const account of (await this.#store.list?.()) ?? []) {
      if (!account.startsWith(PREFIX)) continue;
      const id = account.slice(PREFIX.length);
      const kept = await this.get(id);
      if (kept !== undefined) all.set(id, kept);
    }
    return all;
  }
}
