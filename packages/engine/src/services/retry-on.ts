/** Which failures of an operation may be tried again. The node's own policy decides whether they are. */
import type { ServiceOperation } from "@millrace/contracts";

const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const PASSING = ["network", "timeout", "429", "502", "503", "504"];
/** The server says itself that it has done nothing. */
const UNDONE = ["429"];

/** Whether `failure`, a status, `network` or `timeout`, may be tried again. */
export function mayRetry(operation: ServiceOperation, failure: string): boolean {
  const list = operation.retryOn ?? defaultsOf(operation);
  return list.includes(failure) || (/^5\d\d$/.test(failure) && list.includes("5xx"));
}

function defaultsOf({ method, idempotencyHeader }: ServiceOperation): readonly string[] {
  return REPEATABLE.has(method) || idempotencyHeader !== undefined ? PASSING : UNDONE;
}
