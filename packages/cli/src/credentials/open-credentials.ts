/** The credentials of services of this installation, from the store of the configuration. */
import { createNodeHost } from "@millrace/engine/node";
import {
  createServiceCredentials,
  egressFetch,
  memoryConnectionRecords,
  type ServiceCredentials,
} from "@millrace/server/connections";
import type { Config } from "../config/load.ts";
import { openStore } from "./open-store.ts";
import { storeRecords } from "./store-records.ts";

/** Credentials, and the end of what they opened. */
export interface OpenedCredentials {
  readonly credentials: ServiceCredentials;
  close(): Promise<void>;
}

/** Opens what the configuration says. */
export function openCredentials(config: Config, now: () => number): OpenedCredentials {
  const { store, lock, close } = openStore(config.credentials);
  const credentials = createServiceCredentials({
    store,
    ...(lock && { lock }),
    services: new Map(config.services.map((service) => [service.slug, service])),
    // Without a lock nothing outlives this process, and nothing is shared.
    connections: lock ? storeRecords(config.credentials.dir) : memoryConnectionRecords(),
    fetch: egressFetch(createNodeHost().openFetch(config.egress)),
    now,
  });
  return { credentials, close };
}
