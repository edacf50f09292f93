/** The OAuth helpers that run wherever there is `fetch` and WebCrypto. One list of public names. */
export { buildAuthorizeUrl, percentEncode } from "./authorize-url.ts";
export {
  OAuthError,
  type OAuthErrorCode,
  type OAuthErrorKind,
  type OAuthErrorOptions,
  type OAuthReason,
} from "./errors.ts";
export { ensureFreshToken, isExpired } from "./fresh-token.ts";
export { generatePkce, generateState } from "./state.ts";
export { accountFor, deleteToken, loadToken, storeToken } from "./stored-token.ts";
export { exchangeCode, refreshToken, revokeToken } from "./token-request.ts";
export { tokenFromResponse } from "./token-response.ts";
export type {
  AuthorizeParams,
  CredentialStore,
  Lock,
  OAuthToken,
  TokenEndpoint,
} from "./types.ts";
