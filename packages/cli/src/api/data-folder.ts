/** The data directory of this installation with all that its configuration allows: the commands of a server, in this process. */

import type { Logger } from "@millrace/server";
import { type LocalClient, openLocal } from "@millrace/server/local";
import type { CommandIo } from "../argv/spec.ts";
import { type Config, serverOptions } from "../config/load.ts";
import { debugLines } from "../output/debug-lines.ts";
import { subflowsIn } from "../run/compile.ts";
import { traceLog } from "../run/traces.ts";

export { checkCall } from "@millrace/server/local";

/** Opens it. Throws a usage error for a bad option, `unavailable` for a store that does not open. */
export async function openData(
  config: Config,
  { write, actor }: { readonly write: boolean; readonly actor?: "cli" | "mcp" | undefined },
  io: CommandIo,
): Promise<LocalClient> {
  return openLocal({
    ...(await serverOptions(config, io, debugLines(io))),
    readonly: !write,
    ...(actor !== undefined && { actor }),
    files: { root: config.filesRoot ?? config.folder },
    ai: { ...config.ai, env: io.env },
    log: warningsTo(io),
    traces: io.env,
    // The templates of the store come after them by themselves.
    subflows: subflowsIn([io.cwd, config.flows]),
  });
}

/** Log lines that a person should see, although no command fails. */
function warningsTo(io: CommandIo): Logger {
  const line = "warning: the service could not be told to revoke the grant; it is deleted here\n";
  return {
    debug() {},
    info() {},
    warn(fields, message) {
      if (message?.startsWith("revoke.")) void io.err.write(line);
      traceLog(io).warn(fields, message);
    },
    error() {},
  };
}
