/** A consent in two halves, with a person between them: the URL to open, and the code that comes back. */
import { buildAuthorizeUrl } from "./authorize-url.ts";
import { generatePkce, generateState } from "./state.ts";
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
    finish: (code, signal) =>
      exchangeCode({ ...params, code, redirectUri, codeVerifier: pkce?.verifier, signal }),
  };
}
