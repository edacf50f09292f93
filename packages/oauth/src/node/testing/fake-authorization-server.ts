/**
 * An authorization server on 127.0.0.1 whose user consents (or refuses) without a click.
 *   V1  A code works once, and so does a refresh token; a second use revokes the grant, as real servers do.
 *   V2  PKCE is checked where the authorize URL asked for it.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  type LoopbackServer,
  type ReceivedRequest,
  startLoopbackServer,
} from "./loopback-server.ts";

/** How the server behaves; all optional. */
export interface FakeAuthorizationServerOptions {
  /** Default `"client"`. */
  readonly clientId?: string;
  /** Default `"client-secret"`; "" for a public client. */
  readonly clientSecret?: string;
  /** Seconds that an access token lives. Default 3600. */
  readonly expiresIn?: number;
  /** Whether the user refuses. Default false. */
  readonly deny?: boolean;
}

/** The running server. */
export interface FakeAuthorizationServer extends LoopbackServer {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly revocationUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Opens an authorize URL as a browser would, up to the page of the redirect receiver; the status of that page. */
  visit(authorizeUrl: string): Promise<number>;
  /** Whether an access token of this server is still good. */
  accepts(accessToken: string): boolean;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Grant {
  alive: boolean;
  readonly scope: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
}

/** Starts the server on a free port. */
export async function startFakeAuthorizationServer({
  clientId = "client",
  clientSecret = "client-secret",
  expiresIn = 3600,
  deny = false,
}: FakeAuthorizationServerOptions = {}): Promise<FakeAuthorizationServer> {
  /** All codes and tokens ever issued, used ones included, so that a second use is noticed. */
  const codes = new Map<string, { grant: Grant; used: boolean }>();
  const refreshTokens = new Map<string, { grant: Grant; used: boolean }>();
  const accessTokens = new Map<string, { grant: Grant; endsEpoch: number }>();

  const authorize = (query: URLSearchParams): Reply => {
    const redirectUri = query.get("redirect_uri") ?? "";
    if (query.get("client_id") !== clientId || !URL.canParse(redirectUri)) {
      return { status: 400, body: { error: "invalid_request" } };
    }
    const target = new URL(redirectUri);
    if (deny) {
      target.searchParams.set("error", "access_denied");
    } else {
      const code = random();
      const scope = query.get("scope") ?? "";
      const grant = { alive: true, scope, redirectUri, challenge: query.get("code_challenge") };
      codes.set(code, { grant, used: false });
      target.searchParams.set("code", code);
    }
    target.searchParams.set("state", query.get("state") ?? "");
    return { status: 302, headers: { location: target.href } };
  };

  const take = (
    given: Map<string, { grant: Grant; used: boolean }>,
    key: string | null,
  ): Grant | undefined => {
    const found = given.get(key ?? "");
    if (!found) return undefined;
    if (found.used) found.grant.alive = false;
    found.used = true;
    return found.grant.alive ? found.grant : undefined;
  };

  const token = (form: URLSearchParams): Reply => {
    const type = form.get("grant_type");
    if (type !== "authorization_code" && type !== "refresh_token") {
      return { status: 400, body: { error: "unsupported_grant_type" } };
    }
    const grant =
      type === "refresh_token"
        ? take(refreshTokens, form.get("refresh_token"))
        : take(codes, form.get("code"));
    if (!grant || (type === "authorization_code" && !isProven(grant, form))) {
      return { status: 400, body: { error: "invalid_grant" } };
    }
    const access_token = random();
    const refresh_token = random();
    accessTokens.set(access_token, { grant, endsEpoch: Date.now() + expiresIn * 1000 });
    refreshTokens.set(refresh_token, { grant, used: false });
    return {
      status: 200,
      body: {
        access_token,
        refresh_token,
        expires_in: expiresIn,
        token_type: "Bearer",
        scope: grant.scope,
      },
    };
  };

  const revoke = (form: URLSearchParams): Reply => {
    const key = form.get("token") ?? "";
    const found = refreshTokens.get(key) ?? accessTokens.get(key);
    if (found) found.grant.alive = false;
    return { status: 200 };
  };

  const reply = (request: ReceivedRequest): Reply => {
    const { pathname, searchParams } = new URL(`http://127.0.0.1${request.path}`);
    const form = new URLSearchParams(request.body);
    if (pathname === "/authorize") return authorize(searchParams);
    if (pathname !== "/token" && pathname !== "/revoke") return { status: 404 };
    if (!isClient(request, form, clientId, clientSecret)) {
      return { status: 401, body: { error: "invalid_client" } };
    }
    return pathname === "/token" ? token(form) : revoke(form);
  };

  const server = await startLoopbackServer((request, response) => {
    const { status, headers = { "content-type": "application/json" }, body } = reply(request);
    response.writeHead(status, headers).end(body && JSON.stringify(body));
  });

  return {
    ...server,
    authorizeUrl: `${server.origin}/authorize`,
    tokenUrl: `${server.origin}/token`,
    revocationUrl: `${server.origin}/revoke`,
    clientId,
    clientSecret,
    visit: async (authorizeUrl) => {
      const page = await fetch(authorizeUrl);
      await page.arrayBuffer();
      return page.status;
    },
    accepts: (accessToken) => {
      const found = accessTokens.get(accessToken);
      return found ? found.grant.alive && Date.now() < found.endsEpoch : false;
    },
  };
}

function isProven(grant: Grant, form: URLSearchParams): boolean {
  const verifier = form.get("code_verifier");
  const challenge =
    verifier === null ? null : createHash("sha256").update(verifier).digest("base64url");
  return grant.redirectUri === form.get("redirect_uri") && grant.challenge === challenge;
}

/** By the form, or by `Authorization: Basic`, both halves form-encoded (RFC 6749 §2.3.1). */
function isClient(
  request: ReceivedRequest,
  form: URLSearchParams,
  clientId: string,
  clientSecret: string,
): boolean {
  const [scheme, pair = ""] = request.headers["authorization"]?.split(" ") ?? [];
  if (scheme !== "Basic") {
    return form.get("client_id") === clientId && (form.get("client_secret") ?? "") === clientSecret;
  }
  const [id, secret] = Buffer.from(pair, "base64").toString().split(":");
  const [expectedId, expectedSecret] = [clientId, clientSecret].map((half) =>
    new URLSearchParams([["", half]]).toString().slice(1),
  );
  return id === expectedId && secret === expectedSecret;
}

function random(): string {
  return randomBytes(24).toString("base64url");
}
