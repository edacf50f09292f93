/** The OAuth helpers that run wherever there is `fetch` and WebCrypto. One list of public names. */
export { buildAuthorizeUrl } from "./authorize-url.ts";
export {
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorKind,
  type OAuthErrorOptions,
  type OAuthReason,
} from "./errors.ts";
export { percentEncode } from "./percent-encode.ts";
export { generatePkce, generateState } from "./state.ts";
export type {
  AuthorizeParams,
  CredentialStore,
  Lock,
  OAuthToken,
  TokenEndpoint,
} from "./types.ts";
