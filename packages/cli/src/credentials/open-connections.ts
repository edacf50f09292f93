/** Services, the credential store and the notes about connections of this installation, as the commands on connections use them. */
import { randomBytes } from "node:crypto";
import { createNodeHost } from "@millrace/engine/node";
import {
  createServiceConnections,
  egressFetch,
  memoryConnectionRecords,
  type ServiceConnections,
} from "@millrace/server/connections";
import type { Config } from "../config/load.ts";
import { openStore } from "./open-store.ts";
import { fileConnectionRecords } from "./records-file.ts";

/** Opens what the configuration says. `warn` is told what a person should know and nothing fails for. */
export function openConnections(
  config: Config,
  now: () => number,
  warn: (line: string) => void,
): ServiceConnections {
  const { store, name, lock, close } = openStore(config.credentials);
  const connections = createServiceConnections({
    store,
    storeName: name,
    ...(lock && { lock }),
    services: config.services,
    // What only this process remembers needs no file.
    records: lock ? fileConnectionRecords(config.credentials.dir, lock) : memoryConnectionRecords(),
    fetch: egressFetch(createNodeHost().openFetch(config.egress)),
    log: {
      debug() {},
      info() {},
      warn(_fields, message) {
        if (message?.startsWith("revoke.")) {
          warn("the service could not be told to revoke the grant; it is deleted here");
        }
      },
      error() {},
    },
    now,
    random: randomBytes,
  });
  return {
    ...connections,
    async close() {
      await connections.close();
      await close();
    },
  };
}
