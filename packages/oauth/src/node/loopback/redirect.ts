/**
 * Reads one request, and decides which page answers it and whether it ends the wait.
 *   R1  `line` holds bytes as Latin-1 characters; only the values of a query become text, as UTF-8.
 *   R2  A parameter that may have lost its end is not there: half a code is no code.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { OAuthError, registeredError } from "../../errors.ts";
import type { LoopbackPageName } from "./page.ts";

export interface Expected {
  readonly state: string;
  readonly path?: string | undefined;
  readonly requireStateOnError?: boolean | undefined;
  readonly expectedIssuer?: string | undefined;
}

/** The answer to a request, and the end of the wait unless it goes on. */
export interface Verdict {
  readonly page: LoopbackPageName;
  readonly head: boolean;
  readonly result?: { readonly code: string } | { readonly error: OAuthError };
}

/**
 * Judges one line. The page follows what the provider said: a code with the wrong state is answered like any code.
 * @see specification, "Accept OAuth code"
 */
export function judge(arrived: ArrivedLine, expected: Expected): Verdict {
  const { method, path, query } = readRequestLine(arrived);
  const head = method === "HEAD";
  const elsewhere = expected.path !== undefined && path !== expected.path;
  const code = query.get("code");
  const error = query.get("error");
  if (elsewhere || (error === undefined && code === undefined)) return { page: "notFound", head };
  const stateMatches = isState(query.get("state"), expected.state);
  if (error !== undefined) {
    if (expected.requireStateOnError && !stateMatches) return { page: "denied", head };
    return { page: "denied", head, result: { error: denied(error) } };
  }
  if (!stateMatches) return { page: "ok", head, result: { error: mismatch("state") } };
  const { expectedIssuer } = expected;
  if (expectedIssuer !== undefined && query.get("iss") !== expectedIssuer) {
    return { page: "ok", head, result: { error: mismatch("issuer") } };
  }
  return { page: "ok", head, result: { code: code ?? "" } };
}

function denied(error: string): OAuthError {
  const why = error === "access_denied" ? "" : registeredError(error);
  return new OAuthError("Token", `authorization was denied${why}`, {
    status: 400,
    body: `authorization denied: ${error}`,
    oauthError: error,
    reason: "denied",
  });
}

function mismatch(what: "state" | "issuer"): OAuthError {
  const body = what === "state" ? "OAuth state mismatch (possible CSRF)" : "OAuth issuer mismatch";
  return new OAuthError("Token", `OAuth ${what} mismatch`, {
    status: 400,
    body,
    reason: `${what}_mismatch`,
  });
}

/** Compares the digests of two states, so that the time it takes says nothing about how much of a guess was right. */
export function isState(sent: string | undefined, expected: string): boolean {
  if (sent === undefined) return false;
  const digest = (text: string): Buffer => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(sent), digest(expected));
}

/** A browser sends `/a/./b` and `/a/%2e%2e` as another path. */
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
const PATH_AND_QUERY = /^\/[\w\-.~!$&'()*+,;=:@/?%]*$/; // RFC 3986 section 3.3 and 3.4; a browser changes the rest

/** Returns a valid path, with its query if it has one. Throws `TypeError` for any other text. */
export function checkRedirectPath(path: string): string {
  if (typeof path === "string" && PATH_AND_QUERY.test(path) && !DOT_SEGMENT.test(path)) return path;
  throw new TypeError(
    'path: must begin with "/" and hold only the characters of a path (RFC 3986), without the segments "." and ".."; percent-encode others',
  );
}

/** One line as it arrived, without its line feed. `cut`: the line feed was not seen. */
export interface ArrivedLine {
  readonly line: string;
  readonly cut: boolean;
}

/** A parsed request line; `path` and `query` are of a GET, as they were sent. */
interface RedirectRequest {
  readonly method: string;
  readonly path?: string;
  readonly query: ReadonlyMap<string, string>;
}

const NO_QUERY: ReadonlyMap<string, string> = new Map();
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i; // of a target in absolute form, RFC 9112 section 3.2.2

/**
 * Reads `GET <target> …`: also without the third word, with a target in absolute form, and with a fragment, which goes.
 * Any other line gives its first word and no path.
 */
function readRequestLine({ line, cut }: ArrivedLine): RedirectRequest {
  const [method = "", target = "", ...rest] = line.replace(/\r$/, "").split(" ");
  if (method !== "GET" || target === "") return { method, query: NO_QUERY };
  const [resource = ""] = target.replace(ORIGIN, "").split("#", 1);
  const mark = resource.indexOf("?");
  const path = (mark < 0 ? resource : resource.slice(0, mark)) || "/";
  if (mark < 0) return { method, path, query: NO_QUERY };
  const parameters = resource.slice(mark + 1).split("&");
  if (cut && rest.length === 0) parameters.pop();
  return { method, path, query: readQuery(parameters) };
}

/** Names are compared as sent; of two parameters of one name the first counts. */
function readQuery(parameters: readonly string[]): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    const name = equals < 0 ? parameter : parameter.slice(0, equals);
    if (!query.has(name)) query.set(name, equals < 0 ? "" : decode(parameter.slice(equals + 1)));
  }
  return query;
}

/** `+` is a space and `%XX` a byte; what only looks like one stays as it is. Bytes that are no UTF-8 become U+FFFD. */
function decode(value: string): string {
  if (/^[\w.~-]*$/.test(value)) return value; // as most are
  const bytes = value.replace(/\+|%([0-9a-f]{2})/gi, (_, hex: string | undefined) =>
    hex === undefined ? " " : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
