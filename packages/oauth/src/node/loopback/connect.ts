/** The whole consent of one service on this machine, from the free port to the stored token. */
import { buildAuthorizeUrl } from "../../authorize-url.ts";
import { type ConsentParams, startConsent } from "../../consent.ts";
import { withEntryLock } from "../../entry-lock.ts";
import { accountFor, storeToken } from "../../stored-token.ts";
import { checkClient } from "../../token-request.ts";
import type { CredentialStore, Lock, OAuthToken } from "../../types.ts";
import { type AcceptOptions, acceptOAuthCode, checkAcceptOptions } from "./accept.ts";
import { bindLoopback } from "./listener.ts";

/** Options of `connectService`. */
export interface ConnectOptions
  extends Omit<ConsentParams, "redirectUri" | "timeoutMs">,
    Omit<AcceptOptions, "state" | "requireStateOnError"> {
  /** Where the token goes, under `service:<slug>`. */
  readonly store: CredentialStore;
  readonly slug: string;
  /** Held while the token is stored, so that a renewal of the old one cannot overwrite it. The one of `ensureFreshToken`. */
  readonly lock?: Lock | undefined;
  /** The port, or ports to try in turn; default 0, any free one. */
  readonly port?: number | readonly number[] | undefined;
  /** Shows the URL to the user. Its result and its errors are ignored; the wait goes on. */
  readonly openBrowser: (url: string) => unknown;
}

/**
 * Asks the user for consent and stores the token: binds the port, opens the browser, waits `timeoutMs` for the redirect,
 * exchanges the code. The port is free when it settles. Rejects as `bindLoopback`, `acceptOAuthCode`, `exchangeCode` and
 * `storeToken` do; mistakes of the caller are a `TypeError` or `RangeError` before the port is bound.
 */
export async function connectService(options: ConnectOptions): Promise<OAuthToken> {
  const { store, slug, lock, openBrowser, signal, timeoutMs: _wait, ...client } = options;
  checkClient(client);
  checkAcceptOptions({ ...options, state: "" });
  buildAuthorizeUrl({ ...client, state: "", redirectUri: "" });
  accountFor(slug);
  if (typeof openBrowser !== "function") throw new TypeError("openBrowser: must be a function");
  signal?.throwIfAborted();
  const listener = await bindLoopback(options.port);
  try {
    const redirectUri = listener.redirectUri(options.path);
    const { authorizeUrl, state, finish } = await startConsent({ ...client, redirectUri });
    signal?.throwIfAborted();
    // The user may have the URL from elsewhere, so a browser that does not open ends nothing.
    void (async () => openBrowser(authorizeUrl))().catch(() => {});
    const token = await finish(await acceptOAuthCode(listener, { ...options, state }), signal);
    await withEntryLock(lock, slug, () => storeToken(store, slug, token));
    return token;
  } finally {
    await listener.close();
  }
}
