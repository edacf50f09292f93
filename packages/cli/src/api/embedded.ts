/** This installation as the API of the commands: its data directory, and what its configuration allows. */
import { openLocal } from "@millrace/server/local";
import { modelsOf } from "../ai/models-of.ts";
import type { CommandIo } from "../command.ts";
import type { Config } from "../config/load.ts";
import { subflowsIn } from "../subflows.ts";
import type { Api } from "./open-api.ts";
import { storeEnd } from "./store-end.ts";

/** Opens the data directory. Throws a usage error for a bad option, `unavailable` for a store that does not open. */
export async function createEmbedded(
  config: Config,
  { write }: { readonly write: boolean },
  io: CommandIo,
): Promise<Omit<Api, "where" | "config">> {
  try {
    return await openLocal({
      readonly: !write,
      store: config.credentials.dir,
      credentials: config.credentials,
      services: config.services,
      extensions: { folder: config.folder, ...config.extensions },
      egress: config.egress,
      files: { root: config.filesRoot ?? config.folder },
      ...(config.shell !== undefined && { shell: config.shell }),
      ai: { ...config.ai, env: io.env },
      models: modelsOf(config, io),
      // The templates of the store come after them by themselves.
      subflows: subflowsIn([io.cwd, config.flows]),
    });
  } catch (error) {
    throw storeEnd(error);
  }
}
