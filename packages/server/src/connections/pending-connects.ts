/**
 * Consents that wait for a person.
 *   P1  A connection has one at most: a new one supersedes the old.
 *   P2  Each ends once, and its port is free then.
 *   P3  How it ended can be asked for KEPT_MS; a restart of a server that is alone forgets it.
 */
import type { ConnectProgress } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";

/** How long a person may take. */
const CONNECT_WAIT_MS = 300_000;
/** How long the end of a consent can be asked for. */
export const KEPT_MS = 600_000;
/** Whoever starts more than one a person can answer only fills the machine with open ports. */
const MAX_PENDING = 16;
/** Ends that are kept, so that a caller in a loop fills no memory. */
const MAX_KEPT = 256;

/** A consent. Whatever runs for it ends with `signal`. */
export class PendingConnect {
  readonly id: string;
  readonly slug: string;
  readonly expiresEpoch: number;
  /** Another server has begun it. */
  readonly isCopy: boolean;
  progress: ConnectProgress = { state: "waiting" };
  readonly #controller = new AbortController();
  readonly #releases: (() => Promise<void>)[] = [];
  readonly #timer: NodeJS.Timeout;
  #isClaimed = false;
  #released: Promise<unknown> | undefined;

  constructor(
    id: string,
    slug: string,
    { now, expiresEpoch, isCopy }: { now: number; expiresEpoch: number; isCopy: boolean },
  ) {
    this.id = id;
    this.slug = slug;
    this.expiresEpoch = expiresEpoch;
    this.isCopy = isCopy;
    this.#timer = setTimeout(() => this.end({ state: "expired" }), expiresEpoch - now).unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Takes the one use of its code; false when it was taken, or the consent has ended. */
  claim(): boolean {
    if (this.#isClaimed || this.progress.state !== "waiting") return false;
    this.#isClaimed = true;
    return true;
  }

  /** Gives the use back: nobody has seen the code. */
  unclaim(): void {
    this.#isClaimed = false;
  }

  /** Ends it; only the first call counts. */
  end(progress: ConnectProgress): void {
    if (this.progress.state !== "waiting") return;
    this.progress = progress;
    clearTimeout(this.#timer);
    this.#controller.abort();
    this.#released = Promise.all(this.#releases.map((each) => each()));
  }

  /** Registers what must be done before its port counts as free. */
  onEnd(release: () => Promise<void>): void {
    if (this.progress.state === "waiting") this.#releases.push(release);
    else this.#released = Promise.all([this.#released, release()]);
  }

  /** Resolves when everything registered is done. */
  async released(): Promise<void> {
    await this.#released;
  }
}

export class PendingConnects {
  readonly #all = new Map<string, PendingConnect>();
  readonly #now: () => number;
  #isClosed = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether those that end now end because this server does. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether a consent of this connection may wait beside those of others. */
  hasRoom(slug: string): boolean {
    const others = this.#waiting().filter((connect) => !connect.isCopy && connect.slug !== slug);
    return others.length < MAX_PENDING;
  }

  get(id: string): PendingConnect | undefined {
    this.#prune();
    return this.#all.get(id);
  }

  /**
   * Begins one, and ends the one that the connection had; resolves when that one's port is free. Throws `draining` after
   * `close`: it would never end.
   */
  async begin(id: string, slug: string): Promise<PendingConnect> {
    if (this.#isClosed) throw new ProblemError("draining");
    const before = this.#waiting().filter((connect) => connect.slug === slug);
    const now = this.#now();
    const times = { now, expiresEpoch: now + CONNECT_WAIT_MS };
    const connect = this.#add(new PendingConnect(id, slug, { ...times, isCopy: false }));
    for (const old of before) old.end({ state: "superseded" });
    await Promise.all(before.map((old) => old.released()));
    return connect;
  }

  /** Takes up one that another server has begun; no other one ends by that. */
  adopt(id: string, slug: string, expiresEpoch: number): PendingConnect {
    const times = { now: this.#now(), expiresEpoch };
    return this.#add(new PendingConnect(id, slug, { ...times, isCopy: true }));
  }

  #add(connect: PendingConnect): PendingConnect {
    this.#all.set(connect.id, connect);
    this.#prune();
    return connect;
  }

  /** Forgets one that never got as far as to wait. */
  drop(id: string): void {
    this.#all.delete(id);
  }

  /** Ends all, for good. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.cancel();
  }

  /** Ends those of one connection, or all, and resolves when their ports are free. */
  async cancel(slug?: string): Promise<void> {
    const ended = this.#waiting().filter((connect) => slug === undefined || connect.slug === slug);
    for (const connect of ended) connect.end({ state: "cancelled" });
    await Promise.all(ended.map((connect) => connect.released()));
  }

  #waiting(): readonly PendingConnect[] {
    return [...this.#all.values()].filter(({ progress }) => progress.state === "waiting");
  }

  #prune(): void {
    const kept = [...this.#all.values()].filter(({ progress }) => progress.state !== "waiting");
    const surplus = new Set(kept.slice(0, Math.max(0, kept.length - MAX_KEPT)));
    for (const connect of kept) {
      const old = connect.expiresEpoch + KEPT_MS <= this.#now();
      if (old || surplus.has(connect)) this.#all.delete(connect.id);
    }
  }
}
