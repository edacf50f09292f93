export { type CredentialBackend, describeCredentialBackends } from "./describe-backends.ts";
export { type OsCredentialStoreOptions, osCredentialStore } from "./os-store.ts";
