/**
 * The life of one request over all its hops: what ends it early, and that nothing of it is left behind.
 *   K1  The first reason to end wins; everything later is told that one.
 *   K2  After `end` no timer and no listener of the call is left.
 */
import type { AbortSignalLike } from "@millrace/contracts";
import { timedOut } from "./refusal.ts";

/** The part of an exchange that is in flight: the request, then its answer. */
interface Destroyable {
  destroy(error?: Error): unknown;
}

export class Call {
  readonly idleMs: number;
  readonly host: string;
  #error: unknown;
  #ended = false;
  #current: Destroyable | null = null;
  readonly #signal: AbortSignalLike | undefined;
  readonly #total: NodeJS.Timeout;
  readonly #aborted: () => void;

  constructor(options: {
    host: string;
    idleMs: number;
    totalMs: number;
    signal: AbortSignalLike | undefined;
  }) {
    const { host, idleMs, totalMs, signal } = options;
    this.host = host;
    this.idleMs = idleMs;
    this.#signal = signal;
    this.#aborted = () => this.fail(signal?.reason ?? new DOMException("aborted", "AbortError"));
    this.#total = setTimeout(() => this.fail(timedOut("total", totalMs, host)), totalMs);
    // An answer that is not read must not keep the process alive; a request that waits holds a socket.
    this.#total.unref();
    if (signal?.aborted === true) this.#aborted();
    else signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  /** Throws why the call has ended, if it has. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /** Names what is to be destroyed when the call ends early. */
  hold(current: Destroyable): void {
    this.#current = current;
    if (this.#error !== undefined) this.#destroy();
  }

  /** Ends the call for `reason`. */
  fail(reason: unknown): void {
    if (this.#ended || this.#error !== undefined) return;
    this.#error = reason;
    this.#destroy();
    this.end();
  }

  /** The reason of the call itself, if it has one, else `error`. */
  reason(error: unknown): unknown {
    return this.#error ?? error;
  }

  /** Waits for the other side, at most `idleMs`. */
  async waiting<T>(next: Promise<T>): Promise<T> {
    const idle = setTimeout(() => this.fail(timedOut("idle", this.idleMs, this.host)), this.idleMs);
    try {
      return await next;
    } finally {
      clearTimeout(idle);
    }
  }

  /** Nothing more will happen. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#total);
    this.#signal?.removeEventListener("abort", this.#aborted);
  }

  #destroy(): void {
    const error = this.#error;
    this.#current?.destroy(error instanceof Error ? error : new Error("aborted"));
  }
}
