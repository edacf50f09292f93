/** The key `models` of the configuration, and what the environment says instead. */
import type { ServerOptions } from "@millrace/server";
import type { Config } from "../config/load.ts";
import type { CliIo } from "../io.ts";

/** As the option of a server, which checks it. */
export function modelsOf({ values }: Config, { env }: CliIo): NonNullable<ServerOptions["models"]> {
  const { MILLRACE_MODELS_DIR: dir } = env;
  const { models = {} } = values as { readonly models?: ServerOptions["models"] };
  return typeof models === "object" && dir ? { ...models, dir } : models;
}
