/** The OAuth helpers that run wherever there is `fetch` and WebCrypto. One list of public names. */
export { buildAuthorizeUrl, percentEncode } from "./authorize-url.ts";
export {
  type Consent,
  type ConsentParams,
  generatePkce,
  generateState,
  startConsent,
} from "./consent.ts";
export { withEntryLock } from "./entry-lock.ts";
export {
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorKind,
  type OAuthErrorOptions,
  type OAuthReason,
} from "./errors.ts";
export { ensureFreshToken, isExpired } from "./fresh-token.ts";
export {
  accountFor,
  deleteEntry,
  deleteToken,
  loadToken,
  readEntry,
  storeToken,
  writeEntry,
} from "./stored-token.ts";
export { exchangeCode, refreshToken, revokeToken } from "./token-request.ts";
export { tokenFromResponse } from "./token-response.ts";
export type {
  AuthorizeParams,
  CredentialStore,
  Lock,
  OAuthToken,
  TokenEndpoint,
} from "./types.ts";
