/** How a server of this process starts and ends, for the commands that have one. */

import { once } from "node:events";
import { whenAborted } from "@millrace/contracts/kit";
import { ConfigError, type RunningServer } from "@millrace/server";
import type { CommandIo } from "../../argv/spec.ts";
import { CliError, interruptible } from "../../errors.ts";

/** How a server that others can reach is started. */
const OPEN_BIND =
  "set MILLRACE_TOKEN or give --token-file FILE; --allow-open lets everybody in without a token";

/** How long a start that a signal interrupts may take to end in order; its database may never answer. */
const START_GRACE_MS = 1_000;

/** Throws what a start that failed is for a person: a bad option, a port that is taken. */
export function refuseStart(error: unknown, port: number | undefined): never {
  if (ConfigError.isInstance(error)) {
    const hint = error.code === "open_bind_refused" ? OPEN_BIND : undefined;
    throw new CliError("usage", error.message, { hint });
  }
  if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") {
    throw new CliError("unavailable", `port ${port ?? ""} is in use`, {
      hint: "choose another with --port",
    });
  }
  throw error;
}

/** The server that starts, or a `cancelled` error where a signal came and the start did not end soon after it. */
export async function startOrStop<T>(starting: Promise<T>, { signal }: CommandIo): Promise<T> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const leave = whenAborted(signal, () => {
    timer = setTimeout(() => late.abort(signal.reason), START_GRACE_MS);
  });
  try {
    return await interruptible(late.signal, starting);
  } finally {
    leave();
    clearTimeout(timer);
  }
}

/** Resolves when a signal ends the command; undefined when one has. */
export function stoppedBy({ signal }: CommandIo): Promise<void> | undefined {
  return signal.aborted ? undefined : once(signal, "abort").then(() => undefined);
}

/** Reads the tokens of a server again at each SIGHUP; the answer ends that. */
export function reloadOnHangup(server: Pick<RunningServer, "reload">): () => void {
  const reload = (): void => void server.reload();
  process.on("SIGHUP", reload);
  return () => process.off("SIGHUP", reload);
}

/** Closes a server when it is stopped, or has lost its store. */
export async function serveToEnd(
  server: Pick<RunningServer, "close">,
  stopped: Promise<void> | undefined,
  storeLost: Promise<string>,
): Promise<number> {
  const lost = await Promise.race([stopped, storeLost]);
  await server.close(typeof lost === "string" ? { graceMs: 0 } : {});
  if (typeof lost !== "string") return 0;
  throw new CliError("internal", `the store is lost (${lost})`, {
    hint: "start again: the runs go on where they were",
  });
}
