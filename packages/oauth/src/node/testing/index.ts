/** Doubles and cases for tests, bound to no test runner. One list of public names. */
export { type CredentialStoreCase, credentialStoreCases } from "./credential-store-cases.ts";
export {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from "./fake-authorization-server.ts";
export {
  type LoopbackServer,
  type ReceivedRequest,
  startLoopbackServer,
} from "./loopback-server.ts";
