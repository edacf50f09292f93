/**
 * This installation as the API of the commands: its data directory, and what its configuration allows.
 *   B1  Nothing is opened, let alone made, before a call whose arguments are right.
 */

import type { Logger } from "@millrace/server";
import { checkCall, type LocalClient, openLocal } from "@millrace/server/local";
import type { CommandIo } from "../argv/spec.ts";
import { type Config, modelsOf } from "../config/load.ts";
import { CliError } from "../errors.ts";
import { debugLines } from "../output/debug-lines.ts";
import { subflowsIn } from "../run/compile.ts";
import type { Api } from "./api.ts";

/** The data directory. Its calls throw a usage error for a bad option, `unavailable` for a store that does not open. */
export function createEmbedded(
  config: Config,
  { write }: { readonly write: boolean },
  io: CommandIo,
): Omit<Api, "where" | "config"> {
  let opened: Promise<LocalClient> | undefined;
  const open = (): Promise<LocalClient> => {
    opened ??= openData(config, write, io);
    return opened;
  };
  return {
    async invoke(command, args, options) {
      checkCall(command, args);
      return (await open()).invoke(command, args, options);
    },
    async *runFlow(request, options) {
      checkCall("run_flow", request);
      yield* (await open()).runFlow(request, options);
    },
    async *runEvents(runId, options) {
      yield* (await open()).runEvents(runId, options);
    },
    async modelFrames(signal) {
      const { modelFrames } = await open();
      if (modelFrames !== undefined) return modelFrames(signal);
      throw new CliError("unavailable", "no models are managed here", {
        problem: "command_not_wired",
      });
    },
    modelJob: async (jobId) => (await open()).modelJob?.(jobId),
    leave: async (runId, graceMs) => (await open()).leave(runId, graceMs),
    watchRoom(told) {
      let stop: (() => void) | undefined = () => {};
      void open().then((client) => {
        if (stop !== undefined) stop = client.watchRoom(told);
      });
      return () => {
        stop?.();
        stop = undefined;
      };
    },
    stop: async (runId, options) => (await open()).stop(runId, options),
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

function openData(config: Config, write: boolean, io: CommandIo): Promise<LocalClient> {
  const debug = debugLines(io);
  return openLocal({
    readonly: !write,
    store: config.credentials.dir,
    credentials: config.credentials,
    services: config.services,
    extensions: {
      folder: config.folder,
      ...config.extensions,
      ...(debug && { output: debug.output }),
    },
    ...(debug && { onError: debug.onError }),
    egress: config.egress,
    files: { root: config.filesRoot ?? config.folder },
    ...(config.shell !== undefined && { shell: config.shell }),
    ai: { ...config.ai, env: io.env },
    log: revocationsTo(io),
    models: modelsOf(config, io),
    // The templates of the store come after them by themselves.
    subflows: subflowsIn([io.cwd, config.flows]),
  });
}

/** The one thing of a log that a person should know and nothing fails for. */
function revocationsTo(io: CommandIo): Logger {
  const line = "warning: the service could not be told to revoke the grant; it is deleted here\n";
  return {
    debug() {},
    info() {},
    warn(_fields, message) {
      if (message?.startsWith("revoke.")) void io.err.write(line);
    },
    error() {},
  };
}
