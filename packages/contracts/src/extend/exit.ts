/** Leaving a node through a port other than `out`. */

const MARK: unique symbol = Symbol.for("@millrace/contracts.exit");

/** Result of `exit`, read by a host: the port, and the record that the node produces. */
export interface NodeExit<O = unknown> {
  readonly [MARK]: true;
  readonly port: string;
  readonly output: O;
}

/** Ends a node through `port` with `output`: `return exit("rejected", { by })`. The port must be one that the type declares. */
export function exit<O>(port: string, output: O): NodeExit<O> {
  return Object.freeze({ [MARK]: true as const, port, output });
}

/** Whether a body left through a named port; works across two copies of this package. */
export function isNodeExit(value: unknown): value is NodeExit {
  return typeof value === "object" && value !== null && MARK in value;
}
