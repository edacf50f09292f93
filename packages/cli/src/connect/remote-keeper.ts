/** A server as the keeper of connections. */
import type { ServiceInfo } from "@millrace/contracts";
import { ClientError } from "@millrace/contracts/client";
import type { Api } from "../api/open-api.ts";
import { toEnd } from "../api/problem.ts";
import type { Keeper } from "./keeper.ts";

/** A server that is not told that nobody comes any more finds out by itself. */
const GIVE_UP_MS = 1_000;

/** The keeper behind the API. */
export function remoteKeeper(api: Api): Keeper {
  return {
    async services() {
      const all: ServiceInfo[] = [];
      let cursor: string | null = null;
      do {
        const args: { readonly cursor?: string } = cursor === null ? {} : { cursor };
        const page = await told(api.invoke("list_services", args));
        all.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return all;
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
    connect: (args) => told(api.invoke("connect_service", { ...args, receiver: "caller" })),
    complete: (args) => told(api.invoke("complete_connect", args)),
    // Also after an interrupt, which waits for nobody.
    cancel: async (connectId) => {
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      await told(api.invoke("cancel_connect", { connectId }, { signal }));
    },
    setSecret: (args) => told(api.invoke("set_service_secret", args)),
    disconnect: async (slug) => void (await told(api.invoke("disconnect_service", { slug }))),
    close: () => api.close(),
  };
}

async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toEnd(error);
  }
}
