/** What the test and the servers in processes of their own say to each other. */
import type { RestateDispatcherOptions } from "@millrace/restate";

/** What a server is told, as JSON in its first argument. */
export interface ServerOrders {
  readonly options: RestateDispatcherOptions;
  /** The file of all servers. */
  readonly diary: string;
}

/** A run whose id begins so is held by the server that drives it first, until that is killed. */
export const HELD = "held-";
