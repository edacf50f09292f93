/** Restate's SDK, which is loaded by the first server that serves and by nothing else. */

/** The SDK calls it when it answers a request; Node 20 does not have it, and then no call would ever end. */
function fillInWithResolvers(): void {
  if ("withResolvers" in Promise) return;
  Object.defineProperty(Promise, "withResolvers", {
    configurable: true,
    writable: true,
    value<T>(this: PromiseConstructor) {
      let resolve: (value: T | PromiseLike<T>) => void = () => {};
      let reject: (reason?: unknown) => void = () => {};
      const promise = new this<T>((onResolve, onReject) => {
        resolve = onResolve;
        reject = onReject;
      });
      return { promise, resolve, reject };
    },
  });
}

type Sdk = typeof import("@restatedev/restate-sdk");

export function loadSdk(): Promise<Sdk> {
  fillInWithResolvers();
  return import("@restatedev/restate-sdk");
}
