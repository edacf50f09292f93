export {
  type CredentialBackend,
  describeCredentialBackends,
  hasCredentialService,
} from "./describe-backends.ts";
export { type OsCredentialStoreOptions, osCredentialStore } from "./os-store.ts";
