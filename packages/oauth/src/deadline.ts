/** Waiting that ends in time: one timer and one listener, both gone when the promise settles. */

export interface Deadline {
  /** Aborting rejects with its reason. */
  readonly signal: AbortSignal | undefined;
  /** Absent: as long as it takes. */
  readonly timeout?: { readonly ms: number; readonly error: () => Error };
}

/**
 * The result of `work`, unless the time is over or `signal` aborts first. `work` gets a signal that aborts in both
 * cases; what becomes of it afterwards is its own affair.
 */
export async function withDeadline<T>(
  { signal, timeout }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  // A controller of our own: AbortSignal.any keeps what it made alive as long as a long-lived signal, on Node 20.
  const controller = new AbortController();
  let stop = (_reason: unknown): void => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const timer = timeout && setTimeout(() => stop(timeout.error()), timeout.ms);
  const onAbort = (): void => stop(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
