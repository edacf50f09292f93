/** The credentials of services of this installation, from the store of the configuration. */
import { createNodeHost } from "@millrace/engine/node";
import {
  createServiceCredentials,
  egressFetch,
  memoryConnectionRecords,
  type ServiceCredentials,
  storedConnectionRecords,
} from "@millrace/server/connections";
import type { Connections } from "@millrace/store";
import type { Config } from "../config/load.ts";
import { openStore } from "./open-store.ts";
import { storeRecords } from "./store-records.ts";

/** Credentials, and the end of what they opened. */
export interface OpenedCredentials {
  readonly credentials: ServiceCredentials;
  close(): Promise<void>;
}

/** Opens what the configuration says. `table`: of the store that this process writes already. */
export function openCredentials(
  config: Config,
  now: () => number,
  table?: Connections,
): OpenedCredentials {
  const { store, lock, close } = openStore(config.credentials);
  const kept = () =>
    table === undefined ? storeRecords(config.credentials.dir) : storedConnectionRecords(table);
  const credentials = createServiceCredentials({
    store,
    ...(lock && { lock }),
    services: new Map(config.services.map((service) => [service.slug, service])),
    // Without a lock nothing outlives this process, and nothing is shared.
    connections: lock ? kept() : memoryConnectionRecords(),
    fetch: egressFetch(createNodeHost().openFetch(config.egress)),
    now,
  });
  return { credentials, close };
}
