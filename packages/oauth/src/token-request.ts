/**
 * The requests to a token endpoint: how they are built, and how their answers are read.
 *   R1  The fields of the specification come first, in its order; optional ones follow.
 *   R2  A programming error is a `TypeError` or `RangeError`, and nothing was sent then.
 */
import { OAuthError, registeredError } from "./errors.ts";
import { checkSpelling, extraEntries } from "./options.ts";
import { checkTimeout, type FormAnswer, type FormRequest, sendForm } from "./send-form.ts";
import { tokenFromResponse } from "./token-response.ts";
import type { OAuthToken, TokenEndpoint } from "./types.ts";

type Fields = [name: string, value: string][];
type Client = Omit<TokenEndpoint, "tokenUrl">;

/** The parameters of any request here, so that an `extraParams` that passes once always passes. */
const OURS: ReadonlySet<string> = new Set(
  (
    "grant_type code client_id client_secret redirect_uri refresh_token " +
    "code_verifier scope resource token token_type_hint"
  ).split(" "),
);

/**
 * Exchanges an authorization code for a token. Fields: `grant_type`, `code`, `client_id`, `client_secret`,
 * `redirect_uri`, then `code_verifier`, `resource` and extra parameters where given.
 * Throws `OAuthError` kind `Http` (no answer, or none in 30 s), `Token` (any status but 2xx) or `Decode`; an abort
 * rejects with the signal's reason.
 * @see specification, "Exchange code"
 */
export async function exchangeCode(
  params: TokenEndpoint & { code: string; redirectUri: string; codeVerifier?: string | undefined },
): Promise<OAuthToken> {
  const { code, redirectUri, codeVerifier } = params;
  const answer = await request(params, params.tokenUrl, {
    first: [
      ["grant_type", "authorization_code"],
      ["code", code],
    ],
    middle: [["redirect_uri", redirectUri]],
    last: codeVerifier === undefined ? [] : [["code_verifier", codeVerifier]],
  });
  return readToken(answer, params);
}

/**
 * Exchanges a refresh token for a fresh token. Fields: `grant_type`, `refresh_token`, `client_id`, `client_secret`, then
 * `scope`, `resource` and extra parameters where given. An answer without a refresh token keeps the one that was sent.
 * Throws as `exchangeCode` does.
 * @see specification, "Refresh"
 */
export async function refreshToken(
  params: TokenEndpoint & { refreshToken: string; scopes?: readonly string[] },
): Promise<OAuthToken> {
  const { refreshToken, scopes } = params;
  const answer = await request(params, params.tokenUrl, {
    first: [
      ["grant_type", "refresh_token"],
      ["refresh_token", refreshToken],
    ],
    last: scopes === undefined ? [] : [["scope", scopes.join(" ")]],
  });
  return readToken(answer, params, refreshToken);
}

/**
 * Tells the server to forget a token. Done when it answers 200; any other status is an `OAuthError` kind `Token`, no
 * answer is kind `Http`. Forgetting a token here does not need it.
 * @see RFC 7009
 */
export async function revokeToken(
  params: Client & {
    revocationUrl: string;
    token: string;
    hint?: "access_token" | "refresh_token";
  },
): Promise<void> {
  const { token, hint } = params;
  const answer = await request(params, params.revocationUrl, {
    first: [["token", token], ...(hint ? ([["token_type_hint", hint]] as Fields) : [])],
    last: [],
  });
  if (answer.status !== 200) throw refusal("revocation endpoint", answer);
}

/** Sends a form: `first`, the client, `middle`, `last`, resources, extra parameters. */
function request(
  client: Client,
  url: string,
  { first, middle = [], last }: { first: Fields; middle?: Fields; last: Fields },
): Promise<FormAnswer> {
  checkClient(client);
  const who = identify(client);
  const fields = [
    ...first,
    ...who.fields,
    ...middle,
    ...last,
    ...(client.resource ?? []).map((uri): [string, string] => ["resource", uri]),
    ...extraEntries(client.extraParams, OURS),
  ];
  const form = new URLSearchParams(fields).toString();
  return sendForm({ url, form, authorization: who.authorization }, client);
}

/** Throws the `TypeError` or `RangeError` of a client that cannot send any request. */
export function checkClient(client: Client): void {
  checkSpelling(client);
  const { clientAuth = "post", clientSecret, extraParams, timeoutMs } = client;
  checkTimeout(timeoutMs);
  if (extraParams) extraEntries(extraParams, OURS);
  if (!["post", "basic", "none"].includes(clientAuth)) {
    throw new TypeError(`clientAuth must be "post", "basic" or "none", not "${clientAuth}"`);
  }
  if (clientAuth !== "none" && typeof clientSecret !== "string") {
    throw new TypeError(
      `clientAuth "${clientAuth}" needs a clientSecret; a client without one is clientAuth "none"`,
    );
  }
}

function identify({ clientId, clientSecret = "", clientAuth = "post" }: Client): {
  fields: Fields;
  authorization?: FormRequest["authorization"];
} {
  if (clientAuth === "none") return { fields: [["client_id", clientId]] };
  if (clientAuth === "basic") {
    const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    return { fields: [], authorization: `Basic ${btoa(pair)}` };
  }
  return {
    fields: [
      ["client_id", clientId],
      ["client_secret", clientSecret],
    ],
  };
}

/** RFC 6749 §2.3.1: both halves are form-encoded, so the pair is ASCII and has one colon. */
function formEncode(value: string): string {
  return new URLSearchParams([["", value]]).toString().slice(1);
}

function readToken(answer: FormAnswer, client: Client, previous?: string): OAuthToken {
  if (answer.status < 200 || answer.status > 299) throw refusal("token endpoint", answer);
  if (answer.cut) throw new OAuthError("Decode", "token response: it is longer than 1 MiB");
  return tokenFromResponse(decodeStrictly(answer.bytes), {
    now: client.now?.(),
    lenient: client.lenient,
    previousRefreshToken: previous,
  });
}

/** A token with a replacement character inside is of no use. */
function decodeStrictly(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new OAuthError("Decode", "token response: it must be UTF-8");
  }
}

function refusal(who: string, { status, bytes }: FormAnswer): OAuthError {
  const body = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const oauthError = errorOf(body);
  const code = registeredError(oauthError);
  return new OAuthError("Token", `${who} answered ${status}${code}`, {
    reason: "endpoint",
    status,
    body,
    oauthError,
  });
}

function errorOf(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === "object" && value !== null && Object.hasOwn(value, "error")) {
      const { error } = value as { error?: unknown };
      if (typeof error === "string") return error;
    }
  } catch {
    // Not JSON: the status and the body say it all.
  }
  return undefined;
}
