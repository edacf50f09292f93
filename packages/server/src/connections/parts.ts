/** What connections of a server are made of. */
import type { CredentialStore, Lock } from "@millrace/oauth";
import type { Logger } from "../process/index.ts";
import type { WebFetch } from "./egress-fetch.ts";
import type { ConnectionRecords } from "./records.ts";
import type { ServiceCatalog, ServiceCredentials } from "./service-credentials.ts";

/** The parts that commands on connections work with. */
export interface ConnectionParts {
  readonly store: CredentialStore;
  /** Name of the store, as a status shows it. */
  readonly storeName: string;
  /** Of the entries of the store. */
  readonly lock: Lock;
  readonly services: ServiceCatalog;
  readonly records: ConnectionRecords;
  readonly credentials: ServiceCredentials;
  /** For requests to token endpoints. */
  readonly fetch: WebFetch | undefined;
  readonly log: Logger;
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}
