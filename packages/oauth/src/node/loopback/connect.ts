/** The whole consent of one service on this machine, from the free port to the stored token. */
import { buildAuthorizeUrl } from "../../authorize-url.ts";
import { holdEntry } from "../../entry-lock.ts";
import { generatePkce, generateState } from "../../state.ts";
import { accountFor, storeToken } from "../../stored-token.ts";
import { checkClient, exchangeCode } from "../../token-request.ts";
import type {
  AuthorizeParams,
  CredentialStore,
  Lock,
  OAuthToken,
  TokenEndpoint,
} from "../../types.ts";
import { type AcceptOptions, acceptOAuthCode, checkAcceptOptions } from "./accept.ts";
import { bindLoopback } from "./listener.ts";

/** Options of `connectService`. `resource` and `extraParams` go to both the authorize URL and the token request. */
export interface ConnectOptions
  extends Omit<AuthorizeParams, "state" | "redirectUri" | "pkce">,
    Omit<TokenEndpoint, "timeoutMs">,
    Pick<AcceptOptions, "timeoutMs" | "path" | "expectedIssuer" | "pages"> {
  /** Where the token goes, under `service:<slug>`. */
  readonly store: CredentialStore;
  readonly slug: string;
  /** Held while the token is stored, so that a renewal of the old one cannot overwrite it. The one of `ensureFreshToken`. */
  readonly lock?: Lock;
  /** The port, or ports to try in turn; default 0, any free one. */
  readonly port?: number | readonly number[];
  /** Uses PKCE (RFC 7636), which binds the code to this client; default false. */
  readonly usePkce?: boolean;
  /** Shows the URL to the user. Its result and its errors are ignored; the wait goes on. */
  readonly openBrowser: (url: string) => unknown;
}

/**
 * Asks the user for consent and stores the token: binds the port, opens the browser, waits `timeoutMs` for the redirect,
 * exchanges the code. The port is free when it settles. Rejects as `bindLoopback`, `acceptOAuthCode`, `exchangeCode` and
 * `storeToken` do; mistakes of the caller are a `TypeError` or `RangeError` before the port is bound.
 */
export async function connectService(options: ConnectOptions): Promise<OAuthToken> {
  const { store, slug, lock, usePkce = false, openBrowser, timeoutMs: _wait, ...client } = options;
  checkOptions(options, client);
  const listener = await bindLoopback(options.port);
  try {
    const state = generateState();
    const pkce = usePkce ? await generatePkce() : undefined;
    const redirectUri = listener.redirectUri(options.path);
    const url = buildAuthorizeUrl({ ...client, state, redirectUri, ...(pkce && { pkce }) });
    options.signal?.throwIfAborted();
    show(openBrowser, url);
    const code = await acceptOAuthCode(listener, { ...options, state });
    const proof = pkce && { codeVerifier: pkce.verifier };
    const token = await exchangeCode({ ...client, code, redirectUri, ...proof });
    const hold = await holdEntry(lock, accountFor(slug));
    await storeToken(store, slug, token).finally(() => hold.release());
    return token;
  } finally {
    await listener.close();
  }
}

/** Validates the options before the user is asked. */
function checkOptions(options: ConnectOptions, client: TokenEndpoint): void {
  checkClient(client);
  checkAcceptOptions({ ...options, state: "" });
  buildAuthorizeUrl({ ...options, state: "", redirectUri: "" });
  accountFor(options.slug);
  if (typeof options.openBrowser !== "function")
    throw new TypeError("openBrowser: must be a function");
  options.signal?.throwIfAborted();
}

/** The user may have the URL from elsewhere, so a browser that does not open ends nothing. */
function show(openBrowser: (url: string) => unknown, url: string): void {
  try {
    Promise.resolve(openBrowser(url)).catch(() => {});
  } catch {
    // as above
  }
}
