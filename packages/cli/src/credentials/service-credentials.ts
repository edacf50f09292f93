/**
 * The credentials of services of this installation, from the store of the configuration.
 *   R1  It is read while another process may write. A store that cannot be read counts as empty: no run needs it.
 *   R2  Results of the run are stored when no other process has the store.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { createNodeHost } from "@millrace/engine/node";
import {
  type ConnectionRecords,
  createServiceCredentials,
  egressFetch,
  memoryConnectionRecords,
  type ServiceCredentials,
  storedConnectionRecords,
} from "@millrace/server/connections";
import { type Connections, openStore, StoreError } from "@millrace/store";
import type { RunConfig } from "../config/load.ts";
import { openCredentialStore } from "./store.ts";

/** Credentials, and the end of what they opened. */
export interface OpenedCredentials {
  readonly credentials: ServiceCredentials;
  close(): Promise<void>;
}

/** Opens what the configuration says. `table`: of the store that this process writes already. */
export function openCredentials(
  config: RunConfig,
  now: () => number,
  table?: Connections,
): OpenedCredentials {
  const { store, lock, close } = openCredentialStore(config.credentials);
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

/** The records of a data folder. */
function storeRecords(dir: string): ConnectionRecords {
  async function using<T>(
    readonly: boolean,
    work: (records: ConnectionRecords) => Promise<T>,
  ): Promise<T | undefined> {
    if (!existsSync(join(dir, "millrace.db"))) return undefined;
    try {
      const store = await openStore({ dir, readonly });
      try {
        return await work(storedConnectionRecords(store.connections));
      } finally {
        await store.close();
      }
    } catch (error) {
      if (StoreError.isInstance(error)) return undefined;
      throw error;
    }
  }
  return {
    get: (slug) => using(true, (records) => records.get(slug)),
    list: async () => (await using(true, (records) => records.list())) ?? [],
    put: (record) => using(false, (records) => records.put(record)),
    delete: (slug) => using(false, (records) => records.delete(slug)),
  };
}
