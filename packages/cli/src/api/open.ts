/** Opens the API for a command: of the server that was named, or of this installation. */

import { type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { configOptions, warnOn } from "../config/files.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { valueAt } from "../config/values.ts";
import type { Api } from "./api.ts";
import { namedServer } from "./server-url.ts";

/** Most that a server takes. */
const MAX_GRACE_MS = 60_000;
/** Time that a server has to record it: people do not wait for long after an interrupt. */
const STOP_MS = 10_000;

export interface ApiOptions {
  /** Whether something is changed or run; embedded, a command that only reads works beside a process that writes. Default false. */
  readonly write?: boolean;
  /** Trigger of the runs of this process. Default `cli`. */
  readonly actor?: "cli" | "mcp";
  /** Default: that of the working directory. */
  readonly config?: Config;
}

/**
 * Opens the API that the command line and the configuration name. Throws a usage error for a bad URL or a token without TLS.
 * Embedded, the store is opened by the first call whose arguments are right; with `write` that call throws `unavailable` when
 * another process holds the store.
 */
export async function openApi(input: Input, io: CommandIo, options: ApiOptions = {}): Promise<Api> {
  const config = options.config ?? (await loadConfig(configOptions(input, io), io, warnOn(io)));
  const url = namedServer(input, config);
  if (url !== undefined) {
    const { createRemote } = await import("./remote.ts");
    const client = await createRemote(
      url,
      { tokenFile: flagText(input, "token-file"), config },
      io,
    );
    return {
      ...client,
      where: "remote",
      config,
      async stop(runId, { reason, graceMs }) {
        const args = { runId, reason, graceMs: Math.min(graceMs, MAX_GRACE_MS) };
        // Of its own: after an interrupt the signal of the command is spent.
        await client.invoke("cancel_run", args, { signal: AbortSignal.timeout(STOP_MS) });
      },
      close: async () => {},
    };
  }
  if (valueAt(config.values, "store.url") !== undefined) {
    warnOn(io)(
      `this is the data folder ${config.credentials.dir}, and not the store that store.url names; --server asks one of its servers`,
    );
  }
  const { createEmbedded } = await import("./embedded.ts");
  const client = createEmbedded(
    config,
    { write: options.write ?? false, actor: options.actor },
    io,
  );
  return { ...client, where: "embedded", config };
}
