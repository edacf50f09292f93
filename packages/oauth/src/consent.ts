/** A consent in two halves, with a person between them: the URL to open, and the code that comes back. */
import { buildAuthorizeUrl } from "./authorize-url.ts";
import { exchangeCode } from "./token-request.ts";
import type { AuthorizeParams, OAuthToken, TokenEndpoint } from "./types.ts";

/** `resource` and `extraParams` go to both the authorize URL and the token request. */
export interface ConsentParams
  extends Omit<AuthorizeParams, "state" | "pkce">,
    Omit<TokenEndpoint, "signal"> {
  /** Uses PKCE (RFC 7636), which binds the code to this client; default false. */
  readonly usePkce?: boolean | undefined;
}

/** A consent that waits for its code. */
export interface Consent {
  /** Where the person is asked. */
  readonly authorizeUrl: string;
  /** The redirect must bring it back with the code. */
  readonly state: string;
  /** Of PKCE, for who finishes it in another process, with `exchangeCode`. */
  readonly verifier: string | undefined;
  /** Exchanges the code. Throws as `exchangeCode` does; aborting rejects with the signal's reason. */
  finish(code: string, signal?: AbortSignal): Promise<OAuthToken>;
}

/** Begins a consent with a fresh state, and a fresh verifier where PKCE is used. Nothing is sent before `finish`. */
export async function startConsent(params: ConsentParams): Promise<Consent> {
  const { usePkce = false, redirectUri } = params;
  const state = generateState();
  const pkce = usePkce ? await generatePkce() : undefined;
  return {
    authorizeUrl: buildAuthorizeUrl({ ...params, state, pkce }),
    state,
    verifier: pkce?.verifier,
    finish: (code, signal) =>
      exchangeCode({ ...params, code, redirectUri, codeVerifier: pkce?.verifier, signal }),
  };
}

/** 256 bits, as RFC 7636 §4.1 recommends for the verifier: 43 characters. */
const RANDOM_BYTES = 32;

/** A fresh `state`: 32 random bytes as base64url, 43 characters. */
export function generateState(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

/**
 * A fresh verifier, for the token request, and its challenge, for the authorize URL.
 * @see RFC 7636
 */
export async function generatePkce(): Promise<{
  verifier: string;
  challenge: string;
  method: "S256";
}> {
  const verifier = generateState();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: base64url(new Uint8Array(digest)), method: "S256" };
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
