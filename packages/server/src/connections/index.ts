/** Connections of services: credentials for runs, and what commands do with them. */
export { egressFetch, type WebFetch } from "./egress-fetch.ts";
export {
  endpointOf,
  loadClient,
  type OAuth2,
  type OAuthClient,
  storeClient,
} from "./oauth-client.ts";
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
export {
  createServiceConnections,
  type ServiceConnections,
  type ServiceConnectionsOptions,
} from "./service-connections.ts";
export {
  createServiceCredentials,
  type ServiceCatalog,
  type ServiceCredentials,
  type ServiceCredentialsOptions,
} from "./service-credentials.ts";
export { connectionStatus, type StatusSource } from "./status.ts";
