/**
 * The gate: every request passes these checks, in this order, before any routing, whether it comes from Node or as a
 * fetch `Request`. The first failing check answers.
 *   G1  Nothing of the body is read here.
 *   G2  Host and Origin are checked whether tokens exist or not.
 *   G3  A missing, malformed or wrong token gets the same answer, on every path.
 * @see the server page, "The gate", rows 2 to 10
 */
import type { ResolvedOptions } from "../config/options.ts";
import { ProblemError } from "../errors.ts";
import { isStudioPath, wantsPage } from "../studio/assets.ts";
import { isLoopback, parseHost, parseTarget } from "./target.ts";
import type { TokenBuckets } from "./token-buckets.ts";
import { readIdentity, type TokenIdentity, TokenSet } from "./tokens.ts";

/** A request as the gate sees it. */
export interface RawRequest {
  readonly method: string;
  /** The target of the request line. */
  readonly target: string;
  /** The base path is no part of `target`: the app around has taken it away. */
  readonly isMounted: boolean;
  /** Value of a header, named in lower case. */
  header(name: string): string | undefined;
  /** Names and values as they came, for finding repeated headers; null where the platform has joined them already. */
  readonly rawHeaders: readonly string[] | null;
  /** The socket that it came from; null where it came from none. */
  readonly socket: object | null;
  /** Address of the peer; null where it is not known. */
  readonly remote: string | null;
  /** The request without its body, for `caller`. */
  toRequest(): Request;
}

export interface Passage {
  readonly path: string;
  readonly query: string;
  /** Where the server is mounted, "" at the root; links in answers begin with it, `path` does not. */
  readonly basePath: string;
  /** An `Origin` of `allowedOrigins`, to be echoed. */
  readonly corsOrigin: string | null;
  /** The path needs no token: health, readiness, the files of the studio, and hooks, which have their own. */
  readonly exempt: boolean;
}

/** Rules of admission; replaced as a whole by `reload`. */
export interface GatePolicy
  extends Pick<
    ResolvedOptions,
    | "host"
    | "tokens"
    | "allowedHosts"
    | "allowedOrigins"
    | "publicUrl"
    | "basePath"
    | "caller"
    | "studio"
    | "limits"
  > {
  /** Key of the tokens' digests; the same from gate to gate of one server. */
  readonly tokenKey: Uint8Array;
  /** Refused logins by address, to slow down guessing. */
  readonly failures: TokenBuckets;
  /** Whether a token was taken away, by its id. */
  readonly isRevoked: (tokenId: string) => boolean;
}

/** A gate with its policy. Both steps throw `ProblemError`; the first comes first. */
export interface Gate {
  /** Rows 2 to 8: where from, and what for. */
  check(request: RawRequest): Passage;
  /** Rows 9 and 10: the caller. Null when the server is open, or the path needs no token. */
  authenticate(
    request: RawRequest,
    passage: Passage,
  ): TokenIdentity | null | Promise<TokenIdentity>;
  /** Whether a stream that was opened with this token may go on. */
  admits(token: TokenIdentity | null): boolean;
}

/** Headers that must not come twice: two readers could each believe another one. */
const SINGLE = ["host", "content-type", "origin", "authorization"] as const;
/** By their lengths, which are different. */
const SINGLE_OF_LENGTH: readonly (string | undefined)[] = Array.from({ length: 16 }, (_, length) =>
  SINGLE.find((name) => name.length === length),
);
/** Seconds after which an address that failed too often may try again. */
const RETRY = { "Retry-After": "60" };
/** The same for every path: a browser cannot send the header by itself, so a page has to be saved first. */
const UNAUTHORIZED =
  'Send the header "Authorization: Bearer TOKEN". To read the API in a browser: curl -H "Authorization: Bearer TOKEN" URL/api/docs -o docs.html';
const UNGATED = new Set(["/api/health", "/api/ready"]);
const SECTION = /^\/(?:api|hooks|mcp)(?:\/|$)/;

/** Builds the gate. Throws `ConfigError` for a token that cannot be one. */
export function createGate(policy: GatePolicy): Gate {
  const tokens = new TokenSet(policy.tokens, policy.tokenKey);
  const hosts = new Set(policy.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(policy.allowedOrigins.map((origin) => origin.toLowerCase()));
  const ownOrigins = new Set<string>();
  const loopback = isLoopback(policy.host);
  if (loopback) {
    for (const name of ["localhost", "127.0.0.1", "[::1]"]) hosts.add(name);
    hosts.add(policy.host.toLowerCase()); // any other address of this machine, such as 127.0.0.2
  }
  if (policy.publicUrl !== undefined) {
    const url = new URL(policy.publicUrl);
    hosts.add(url.hostname);
    ownOrigins.add(url.origin);
  }
  // A client sends the same `Host` again and again; the last answer is kept.
  let seenHost: string | undefined;

  function checkHost(host: string | undefined): string {
    if (host !== undefined && host === seenHost) return host;
    const parsed = parseHost(host);
    if (host === undefined || parsed === undefined) throw new ProblemError("bad_host");
    // Rebinding needs a name: an address literal in `Host` was typed, or written, as that address.
    if (!hosts.has(parsed.name) && (loopback || !parsed.literal)) {
      throw new ProblemError("host_not_allowed");
    }
    seenHost = host;
    return host;
  }

  /** The allowed origin of the request, in lower case; null without one. */
  function checkOrigin(request: RawRequest, host: string, path: string): string | null {
    const origin = request.header("origin")?.toLowerCase();
    if (origin !== undefined) {
      const own = host.toLowerCase();
      const allowed =
        origin === `http://${own}` ||
        origin === `https://${own}` ||
        ownOrigins.has(origin) ||
        origins.has(origin);
      if (!allowed) throw new ProblemError("origin_not_allowed");
      return origin;
    }
    const site = request.header("sec-fetch-site");
    if (site === "cross-site" || site === "same-site") {
      const navigation =
        request.method === "GET" &&
        request.header("sec-fetch-mode") === "navigate" &&
        !SECTION.test(path);
      if (!navigation) throw new ProblemError("origin_not_allowed");
    }
    return null;
  }

  /** Whether a path can be read without a token: health, and the files of the studio, which lead to no data. */
  function isOpen(request: RawRequest, path: string): boolean {
    if (UNGATED.has(path)) return true;
    if (policy.studio === undefined) return false;
    return isStudioPath(path) || (path === "/" && wantsPage(request.header("accept")));
  }

  function refuse(request: RawRequest): never {
    const allowed = policy.failures.take(request.remote ?? "");
    throw allowed ? unauthorized() : new ProblemError("too_many_requests", { headers: RETRY });
  }

  /** An exception of the option `caller` is an internal error; the request is refused. */
  async function identify(
    caller: (request: Request) => unknown,
    request: RawRequest,
  ): Promise<TokenIdentity> {
    const answer = await caller(request.toRequest());
    return answer === null ? refuse(request) : readIdentity(answer);
  }

  return {
    check(request) {
      const target = parseTarget(request.target);
      if (target === undefined) throw new ProblemError("bad_target");
      const { basePath } = policy;
      const path = request.isMounted ? target.path : pathBelow(basePath, target.path);
      checkHeaders(request, policy.limits.maxHeaders);
      const host = checkHost(request.header("host"));
      const origin = checkOrigin(request, host, path);
      const corsOrigin = origin !== null && origins.has(origin) ? origin : null;
      // A preflight carries no token by its nature; without an allowed origin it is a method like any other.
      const preflight = request.method === "OPTIONS";
      const reads = request.method === "GET" || request.method === "HEAD";
      const exempt = preflight || (reads && isOpen(request, path)) || path.startsWith("/hooks/");
      return { path, query: target.query, basePath, corsOrigin, exempt };
    },
    authenticate(request, { exempt }) {
      if (exempt) return null;
      if (policy.caller) return identify(policy.caller, request);
      if (tokens.open) return null;
      const token = tokens.find(request.header("authorization"), request.socket);
      return token === undefined || policy.isRevoked(token.id) ? refuse(request) : token;
    },
    admits(token) {
      if (policy.caller) return true; // `caller` is asked once for each request
      return token === null ? tokens.open : tokens.has(token) && !policy.isRevoked(token.id);
    },
  };
}

/** An app around that says nothing of it may have taken the base path away, or not. */
function pathBelow(basePath: string, path: string): string {
  if (basePath === "" || !`${path}/`.startsWith(`${basePath}/`)) return path;
  return path.slice(basePath.length) || "/";
}

function unauthorized(): ProblemError {
  return new ProblemError("unauthorized", {
    detail: UNAUTHORIZED,
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

function checkHeaders(request: RawRequest, maxHeaders: number): void {
  if (request.header("upgrade") !== undefined) throw new ProblemError("bad_header");
  const raw = request.rawHeaders;
  if (raw === null) return;
  if (raw.length / 2 > maxHeaders) throw new ProblemError("headers_too_large");
  let seen = 0; // a bit for each length
  for (let i = 0; i < raw.length; i += 2) {
    const written = raw[i] as string;
    const { length } = written;
    const name = SINGLE_OF_LENGTH[length];
    if (name === undefined || (written !== name && written.toLowerCase() !== name)) continue;
    if ((seen & (1 << length)) !== 0) {
      throw name === "authorization" ? unauthorized() : new ProblemError("bad_header");
    }
    seen |= 1 << length;
  }
}
