/** Connections of services: credentials for runs, and what commands do with them. */
export type { ServiceConnections, ServiceCredentials } from "../ports.ts";
export { deleteSecret, listSecrets, type NamedSecret, setSecret } from "./named-secrets.ts";
export { egressFetch, type WebFetch } from "./oauth-client.ts";
export {
  type CredentialKey,
  type CredentialsOptions,
  type OpenedStore,
  openCredentialStore,
} from "./open-store.ts";
export {
  type ConnectionRecord,
  type ConnectionRecords,
  memoryConnectionRecords,
  storedConnectionRecords,
} from "./records.ts";
export { createServiceConnections, type ServiceConnectionsOptions } from "./service-connections.ts";
export {
  createServiceCredentials,
  type ServiceCatalog,
  type ServiceCredentialsOptions,
} from "./service-credentials.ts";
