/** This installation as the keeper of connections. */
import { PROBLEMS } from "@millrace/contracts";
import type { ServiceConnections } from "@millrace/server/connections";
import { type Refusal, toCliError } from "../api/problem.ts";
import type { CommandIo } from "../command.ts";
import type { Config } from "../config/load.ts";
import { openConnections } from "../credentials/open-connections.ts";
import type { Keeper } from "./keeper.ts";

/** The keeper over the services and the credential store of the configuration. */
export function localKeeper(config: Config, io: CommandIo, warn: (line: string) => void): Keeper {
  const connections: ServiceConnections = openConnections(config, () => io.now(), warn);
  if (config.credentials.store === "memory") {
    warn("credentials.store is memory: what is stored ends with this command");
  }
  return {
    services: () => told(Promise.all(connections.services.map((each) => connections.info(each)))),
    auth: async (service) => connections.get(service)?.serviceIntegration.auth,
    connect: (args) => told(connections.connect({ ...args, receiver: "caller" })),
    complete: (args) => told(connections.complete(args)),
    cancel: async (connectId) => void (await told(connections.cancel({ connectId }))),
    setSecret: (args) => told(connections.setSecret(args)),
    disconnect: async (slug) => void (await told(connections.disconnect(slug))),
    close: () => connections.close(),
  };
}

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isRefusal(error)
      ? toCliError({ code: error.code, message: error.message, errors: error.options.errors })
      : error;
  }
}

/** A `ProblemError`, whose class is not loaded for this. */
function isRefusal(
  error: unknown,
): error is Error & Refusal & { readonly options: Pick<Refusal, "errors"> } {
  return (
    error instanceof Error &&
    "options" in error &&
    "code" in error &&
    Object.hasOwn(PROBLEMS, String(error.code))
  );
}
