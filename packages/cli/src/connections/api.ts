/** Connections of this installation, or of the server that was named, as the commands on connections use them. */

import { ClientError } from "@millrace/client";
import type {
  ConnectArgs,
  ConnectionStatus,
  ConnectStarted,
  ServiceAuth,
  ServiceInfo,
  ServiceSecret,
} from "@millrace/contracts";
import { itemsOf } from "../api/api.ts";
import { toCliError } from "../api/errors.ts";
import { openApi } from "../api/open.ts";
import type { CommandIo, Input } from "../argv/spec.ts";

/** Time limit of the best-effort cancel; the consent expires on the server anyway. */
const GIVE_UP_MS = 1_000;

/** A connection as far as it is known without the descriptor of its service. */
export interface UndescribedConnection {
  readonly slug: string;
  readonly service: string;
}

/** What commands on connections ask of the connections API. Methods reject with `CliError`. */
export interface ConnectionsApi {
  /** Every service, sorted by slug, with its connections. */
  services(): Promise<readonly ServiceInfo[]>;
  /** Connections of this installation whose service is not described here; a server shows those of its services alone. */
  undescribed(): Promise<readonly UndescribedConnection[]>;
  /** How a service is entered; absent where the service is not known. */
  auth(service: string): Promise<ServiceAuth | undefined>;
  connect(args: ConnectArgs & { readonly redirectUri: string }): Promise<ConnectStarted>;
  complete(args: {
    readonly connectId: string;
    readonly code: string;
    readonly state: string;
  }): Promise<ConnectionStatus>;
  /** Gives a consent up; nothing happens when it has ended. */
  cancel(connectId: string): Promise<void>;
  setSecret(args: {
    readonly slug: string;
    readonly service: string;
    readonly value: ServiceSecret;
  }): Promise<ConnectionStatus>;
  disconnect(slug: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the server that the command line and the configuration name. `write`: something is connected or forgotten. */
export async function openConnectionsApi(
  input: Input,
  io: CommandIo,
  options: { readonly write: boolean },
): Promise<ConnectionsApi> {
  const api = await openApi(input, io, options);
  if (api.where === "embedded" && api.config.credentials.store === "memory") {
    await io.err.write(
      "warning: credentials.store is memory: what is stored ends with this command\n",
    );
  }
  async function services(): Promise<readonly ServiceInfo[]> {
    const all: ServiceInfo[] = [];
    const pages = itemsOf((page) => mapped(api.invoke("list_services", page)));
    for await (const service of pages) all.push(service);
    return all;
  }
  return {
    services,
    async undescribed() {
      if (api.where !== "embedded") return [];
      const { storeRecords } = await import("../credentials/service-credentials.ts");
      const known = new Set((await services()).map(({ slug }) => slug));
      const records = await storeRecords(api.config.credentials.dir).list();
      return records
        .filter(({ service }) => !known.has(service))
        .map(({ slug, service }) => ({ slug, service }));
    },
    async auth(service) {
      try {
        const entry = await api.invoke("get_node", { type: `service.${service}` });
        return entry.serviceIntegration?.auth;
      } catch (error) {
        if (ClientError.isInstance(error) && error.code === "not_found") return undefined;
        throw error;
      }
    },
    connect: (args) => mapped(api.invoke("connect_service", { ...args, receiver: "caller" })),
    complete: (args) => mapped(api.invoke("complete_connect", args)),
    // Also after an interrupt, which waits for nobody.
    cancel: async (connectId) => {
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      await mapped(api.invoke("cancel_connect", { connectId }, { signal }));
    },
    setSecret: (args) => mapped(api.invoke("set_service_secret", args)),
    disconnect: async (slug) => void (await mapped(api.invoke("disconnect_service", { slug }))),
    close: () => api.close(),
  };
}

async function mapped<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toCliError(error);
  }
}
