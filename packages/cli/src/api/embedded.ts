/**
 * This installation as the API of the commands: its data directory, and what its configuration allows.
 *   B1  Nothing is opened, let alone made, before a call whose arguments are right.
 *   B2  A list that the store answers alone loads nothing but the store.
 */

import type { LocalClient } from "@millrace/server/local";
import type { CommandIo } from "../argv/spec.ts";
import type { Config } from "../config/load.ts";
import { CliError } from "../errors.ts";
import type { Api } from "./api.ts";

/** The data directory. Its calls throw a usage error for a bad option, `unavailable` for a store that does not open. */
export function createEmbedded(
  config: Config,
  { write, actor }: { readonly write: boolean; readonly actor?: "cli" | "mcp" | undefined },
  io: CommandIo,
): Omit<Api, "where" | "config"> {
  let opened: Promise<LocalClient> | undefined;
  const open = (): Promise<LocalClient> => {
    opened ??= import("./data-folder.ts").then(({ openData }) =>
      openData(config, { write, actor }, io),
    );
    return opened;
  };
  /** The client, once the arguments are right. */
  const openFor = async (command: string, args: object): Promise<LocalClient> => {
    const { checkCall } = await import("./data-folder.ts");
    checkCall(command, args);
    return open();
  };
  return {
    async invoke(command, args, options) {
      if (!write && opened === undefined) {
        const { readStoredList } = await import("@millrace/server/stored");
        const list = await readStoredList(config.credentials.dir, command, args);
        if (list !== undefined) return list;
      }
      return (await openFor(command, args)).invoke(command, args, options);
    },
    async *runFlow(request, options) {
      yield* (await openFor("run_flow", request)).runFlow(request, options);
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
