/** Rules for every credential store: failures with a hint, and limits of names and values. */
import { OAuthError, type OAuthReason } from "../errors.ts";

/** Hint where the credential store of the system does not help. */
export const OTHER_STORE = "or choose the encrypted file store (@millrace/oauth/store/file)";

/** An error of kind `Credential`: `credential store: <what>. <remedy>`. Neither text may hold anything secret. */
export function credentialFailure(
  what: string,
  remedy: string,
  options: { readonly reason?: OAuthReason; readonly cause?: unknown } = {},
): OAuthError {
  return new OAuthError("Credential", `credential store: ${what}. ${remedy}`, options);
}

/** Longest value in UTF-8 bytes: tokens are a few kilobytes, and a store is read as a whole. */
export const MAX_VALUE_BYTES: number = 1024 * 1024;

/** Half a character: UTF-8 has no bytes for it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Throws a `Credential` error for a name that not every store can hold as it is. */
export function checkAccount(account: string): void {
  if (typeof account !== "string" || account === "" || account.includes("\0")) {
    throw credentialFailure(
      "the account name is empty or holds a NUL character",
      "Use another name.",
    );
  }
  if (LONE_SURROGATE.test(account)) {
    throw credentialFailure("the account name is no Unicode text", "Use another name.");
  }
}

/** Throws a `Credential` error for a value that would not come back as it was written. */
export function checkValue(value: string): void {
  if (typeof value !== "string" || LONE_SURROGATE.test(value)) {
    throw credentialFailure("the value is no Unicode text", "Store it in another encoding.");
  }
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw credentialFailure(
      `the value is longer than ${MAX_VALUE_BYTES} bytes`,
      "Store it elsewhere and its place here.",
      { reason: "too_large" },
    );
  }
}
