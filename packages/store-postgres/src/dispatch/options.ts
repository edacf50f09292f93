/** Options of the dispatcher, and what it has of the store. */
import type { SharedStore } from "@millrace/store";
import type { Link } from "../connect/link.ts";

/** Gets messages for the operator, which name runs. */
export interface DispatcherLog {
  warn(fields: object, message?: string): void;
}

/** Options of `createPostgresDispatcher`. */
export interface PostgresDispatcherOptions {
  /** Store of `openPostgresStore`. It is closed after the dispatcher. */
  readonly store: SharedStore;
  /** Runs that are driven here at the same time; default 64. More are driven by other servers, or wait. */
  readonly maxDrives?: number | undefined;
  /** Told of drives that failed and are repeated. */
  readonly log?: DispatcherLog | undefined;
}

/** Parts of an open store that a dispatcher uses. */
export interface CallParts {
  readonly connect: () => Promise<Link>;
  /** Name of this opening. */
  readonly holder: string;
  /** Whether notices are heard. */
  hears(): boolean;
  tell(topics: readonly string[]): void;
  /** Calls `told` with what other servers tell, until the answer is called. */
  watch(told: (topic: string) => void): () => void;
}
