/** The API that commands use. */

import type { Client } from "@millrace/client";
import type { CancelReason, Job, ModelsFrame } from "@millrace/contracts";
import type { Config } from "../config/load.ts";

/**
 * All commands by name, and the events of runs; the server that was named and this installation behave alike. Calls fail with
 * `ClientError`, which `main` maps to the exit code; branch on its `code`.
 */
export interface Api extends Client {
  readonly where: "embedded" | "remote";
  readonly config: Config;
  /** Opens the events of managed models, from now on. Throws `unavailable` where none are managed. */
  modelFrames(signal: AbortSignal): Promise<AsyncIterable<ModelsFrame>>;
  /** Embedded: a job on models, with the sentence of its error. */
  modelJob?(jobId: string): Promise<Job | undefined>;
  /** Cancels a run. Embedded, the reason decides the exit code; a server records it. Resolves when it is recorded. */
  stop(
    runId: string,
    options: { readonly reason: CancelReason; readonly graceMs: number },
  ): Promise<void>;
  /** Embedded: stops a run of this process where it is, for `resume`. No other call is possible afterwards. */
  leave?(runId: string, graceMs: number): Promise<void>;
  /** Embedded: reports whether writes wait for room on the disk, until the returned function is called. */
  readonly watchRoom?: (told: (isFull: boolean) => void) => () => void;
  /** Releases everything; runs that this process still executes are left for `millrace resume`. */
  close(): Promise<void>;
}
