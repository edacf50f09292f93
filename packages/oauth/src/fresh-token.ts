/**
 * A token that can be used now. Providers that rotate refresh tokens revoke the whole grant when one is used twice, and
 * a grant is lost when its answer is not stored; hence:
 *   E1  In this process one renewal runs per (store object, account); with a lock, one in all processes.
 *   E2  After waiting, a caller reads the store again before it asks the server.
 *   E3  Once the request is sent, its answer is stored even if every caller has aborted; if the store refuses it, it stays in
 *       memory and is written before the entry is used again.
 */
import { withDeadline } from "./deadline.ts";
import { holdEntry } from "./entry-lock.ts";
import { OAuthError } from "./errors.ts";
import { type Departure, SingleFlight } from "./single-flight.ts";
import {
  accountFor,
  instantOf,
  loadToken,
  parseToken,
  printToken,
  readEntry,
  storeToken,
} from "./stored-token.ts";
import { checkClient, refreshToken } from "./token-request.ts";
import type { CredentialStore, Lock, OAuthToken, TokenEndpoint } from "./types.ts";

/** A token is not begun with in its last minute. @see specification, "Limits" */
const SKEW_MS = 60_000;
/** A lock that is lost so often is broken. */
const MAX_RESTARTS = 3;
/** A store that was locked or busy for a moment is ready after one of these. */
const WRITE_PAUSES_MS = [100, 400, 1600];

export type FreshTokenParams = TokenEndpoint & {
  readonly store: CredentialStore;
  readonly slug: string;
  /** Keeps other processes from renewing at the same time. */
  readonly lock?: Lock | undefined;
  /** An access token that was just answered 401. */
  readonly rejected?: string | undefined;
};

/** A renewed token that the store has refused so far. */
interface Owed {
  readonly token: OAuthToken;
  /** The stored text it was renewed from; when the store holds another one, nothing is owed any more. */
  readonly replaces: string;
}

const renewals = new SingleFlight<OAuthToken | undefined>();
/** The tokens that are only in memory, by store object and account. */
const unwritten = new WeakMap<CredentialStore, Map<string, Owed>>();

/**
 * The token of a service connection, renewed where it has expired; undefined when none is stored. A fresh one is returned
 * without a request. `rejected` is an access token that was just answered 401: it is renewed although it looks fresh, unless
 * the store holds another one by now. `lock` keeps other processes from renewing at the same time.
 * Callers in one process share one renewal; aborting rejects the caller at once, and a request under way is still stored.
 * Throws `OAuthError`: `NoRefreshToken`; `Token` (the entry stays as it is); `Http`; `Decode`; `Credential`, with reason
 * `lock_timeout` after 45 s, or when the renewed token could not be written: it is then kept in memory until it can.
 * @see specification, "States and transitions"
 */
export async function ensureFreshToken(params: FreshTokenParams): Promise<OAuthToken | undefined> {
  checkClient(params);
  const { store, slug, rejected, signal } = params;
  signal?.throwIfAborted();
  const account = accountFor(slug);
  if (!unwritten.get(store)?.has(account)) {
    const read = (): Promise<string | undefined> => readEntry(store, account);
    const entry = await (signal ? withDeadline({ signal }, read) : read());
    if (entry === undefined) return undefined;
    const token = parseToken(entry);
    if (isUsable(token, params)) return token;
    renewable(token, slug);
  }
  for (;;) {
    const flight = renewals.joinOrStart(store, account, rejected, (departure) =>
      renew(params, account, departure),
    );
    const token = await flight.join(signal);
    // A flight that others started may bring the very token that was rejected here.
    if (token?.access_token !== rejected || flight.forced === rejected || !token) return token;
  }
}

/**
 * Whether `now` plus 60 seconds has reached `expires_at`; without `expires_at` a token never expires. One that cannot be
 * read is expired.
 * @see specification, "OAuthToken"
 */
export function isExpired(token: OAuthToken, now: Date = new Date()): boolean {
  // "not before": a comparison with NaN is false, and must not make a token fresh for ever.
  return token.expires_at !== undefined && !(now.getTime() + SKEW_MS < instantOf(token.expires_at));
}

async function renew(
  params: FreshTokenParams,
  account: string,
  departure: Departure,
): Promise<OAuthToken | undefined> {
  const { store, slug, lock } = params;
  for (let attempt = 0; attempt <= MAX_RESTARTS; attempt++) {
    const hold = await holdEntry(lock, account, departure.signal);
    try {
      let entry = await readEntry(store, account);
      const owed = stillOwed(store, account, entry);
      if (owed) {
        if (!(await hold.held())) continue;
        departure.depart(); // called off, it could write behind the back of the next flight
        await write(store, slug, account, owed.token, owed.replaces);
        entry = printToken(owed.token);
      }
      if (entry === undefined) return undefined;
      const token = parseToken(entry);
      if (isUsable(token, params)) return token;
      const refresh = renewable(token, slug);
      if (!(await hold.held())) continue;
      departure.depart();
      const renewed = await request(params, refresh);
      if (renewed.write) await write(store, slug, account, renewed.token, entry);
      return renewed.token;
    } finally {
      await hold.release();
    }
  }
  throw new OAuthError(
    "Credential",
    `credential store: the lock of "${account}" was lost ${MAX_RESTARTS + 1} times. Try again.`,
    { reason: "lock_timeout" },
  );
}

/** The pending write; none when the entry was connected or deleted since. */
function stillOwed(
  store: CredentialStore,
  account: string,
  entry: string | undefined,
): Owed | undefined {
  const owed = unwritten.get(store)?.get(account);
  if (owed === undefined || owed.replaces === entry) return owed;
  unwritten.get(store)?.delete(account);
  return undefined;
}

/** Asks the server. Another process that was faster leaves us with `invalid_grant` and its own token in the store. */
async function request(
  params: FreshTokenParams,
  refresh: string,
): Promise<{ token: OAuthToken; write: boolean }> {
  const { signal: _signal, ...endpoint } = params;
  try {
    return { token: await refreshToken({ ...endpoint, refreshToken: refresh }), write: true };
  } catch (error) {
    if (OAuthError.isInstance(error, "Token") && error.oauthError === "invalid_grant") {
      const other = await loadToken(params.store, params.slug).catch(() => undefined);
      if (other && isUsable(other, params)) {
        return { token: other, write: false };
      }
    }
    throw error;
  }
}

async function write(
  store: CredentialStore,
  slug: string,
  account: string,
  token: OAuthToken,
  replaces: string,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await storeToken(store, slug, token);
      unwritten.get(store)?.delete(account);
      return;
    } catch (error) {
      const pauseMs = WRITE_PAUSES_MS[tries];
      if (pauseMs === undefined) {
        const ofStore = unwritten.get(store) ?? new Map<string, Owed>();
        unwritten.set(store, ofStore.set(account, { token, replaces }));
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

function isUsable(token: OAuthToken, { rejected, now }: FreshTokenParams): boolean {
  return token.access_token !== rejected && !isExpired(token, now?.());
}

function renewable(token: OAuthToken, slug: string): string {
  if (token.refresh_token) return token.refresh_token;
  throw new OAuthError(
    "NoRefreshToken",
    `No refresh token is stored for service "${slug}". Reconnect the service: millrace connect ${slug}`,
  );
}
