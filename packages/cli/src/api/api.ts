/** The API that commands use, and lists of it as a whole. */
import type { RunClient } from "@millrace/client";
import type { CancelReason, ModelsFrame, Page, PageArgs } from "@millrace/contracts";
import type { Config } from "../config/load.ts";

/**
 * All commands by name, and the events of runs; the server that was named and this installation behave alike. Calls fail with
 * `ClientError`, which `main` maps to the exit code; branch on its `code`.
 */
export interface Api extends RunClient {
  readonly where: "embedded" | "remote";
  readonly config: Config;
  /** Opens the events of managed models, from now on. Throws `unavailable` where none are managed. */
  modelFrames(signal: AbortSignal): Promise<AsyncIterable<ModelsFrame>>;
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

/** Most items of one page of the API. */
export const MAX_PAGE = 200;

/** The items of a list, read page by page as they are asked for. */
export async function* itemsOf<T>(
  read: (page: PageArgs) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read({ limit: MAX_PAGE, ...(cursor !== null && { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
