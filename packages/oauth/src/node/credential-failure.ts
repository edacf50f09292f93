/** Failures of a credential store: what happened, then what to do about it. */
import { OAuthError, type OAuthReason } from "../errors.ts";

/** What helps where the credential store of the system does not. */
export const OTHER_STORE = "or choose the encrypted file store (@millrace/oauth/store/file)";

/** An error of kind `Credential`: `credential store: <what>. <remedy>`. Neither text may hold anything secret. */
export function credentialFailure(
  what: string,
  remedy: string,
  options: { readonly reason?: OAuthReason; readonly cause?: unknown } = {},
): OAuthError {
  return new OAuthError("Credential", `credential store: ${what}. ${remedy}`, options);
}
