/** Whether a value is an answer that is still to come. Whatever has a `then` is taken for a promise, as `await` does. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === "function";
}
