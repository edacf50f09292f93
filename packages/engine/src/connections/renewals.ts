/**
 * Renewals of credentials that were answered with 401, for all runs of an engine.
 *   N1  Calls that were refused with one and the same credential share one renewal.
 *   N2  After a renewed credential was refused as well, a connection is not renewed for a minute.
 */
import type { CredentialsPort, ServiceCredential } from "@millrace/contracts";
import { untilAborted } from "@millrace/contracts/kit";

const REST_MS = 60_000; // a provider that refuses fresh tokens counts the requests for more
const KEPT_MS = 30_000; // calls that were under way with the old credential have ended by then

interface Renewal {
  readonly rejected: string;
  readonly credential: Promise<ServiceCredential>;
  /** When it began, epoch milliseconds. */
  readonly at: number;
}

export class Renewals {
  readonly #now: () => number;
  readonly #bySlug = new Map<string, Renewal>();
  readonly #restingUntil = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The credential after `rejected`; null while the connection rests. Rejects as the port does, or when `signal` aborts. */
  async renew(
    port: CredentialsPort,
    slug: string,
    {
      rejected,
      signal,
      service,
    }: { rejected: ServiceCredential; signal: AbortSignal; service: string },
  ): Promise<ServiceCredential | null> {
    const now = this.#now();
    if (now < (this.#restingUntil.get(slug) ?? 0)) return null;
    const value = rejected.reveal();
    const known = this.#bySlug.get(slug);
    if (known?.rejected === value && now - known.at <= KEPT_MS) {
      return untilAborted(known.credential, signal);
    }
    // It belongs to all callers, so the abort of one does not end it.
    const options = { signal: new AbortController().signal, service };
    const credential = (async () => port.renew(slug, rejected, options))();
    const renewal = { rejected: value, at: now, credential };
    this.#bySlug.set(slug, renewal);
    credential.catch(() => {
      if (this.#bySlug.get(slug) === renewal) this.#bySlug.delete(slug);
    });
    return untilAborted(credential, signal);
  }

  /** The renewed credential was refused too. */
  refused(slug: string): void {
    this.#bySlug.delete(slug);
    this.#restingUntil.set(slug, this.#now() + REST_MS);
  }
}
