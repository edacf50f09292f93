/** Consents, tokens and renewals of every service, with the odd answers that its token endpoint gives. */
import type { ServiceAuth, ServiceSpec } from "@millrace/contracts";
import { defineService } from "@millrace/contracts";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { createServiceConnections } from "@millrace/server/connections";
import { expect, test } from "vitest";
import { VARIANTS } from "./support.ts";

type OAuth2 = Extract<ServiceAuth, { scheme: "oauth2" }>;

const CODE = "the-code";
const SECRET = "client secret/+";
const CLIENT = { client_id: "client", client_secret: SECRET };

/** One answer of a token endpoint: a value is JSON, a text is a form. */
type Answer = object | string;

interface Odd {
  readonly first: Answer;
  /** Absent: tokens are not renewed. */
  readonly refreshed?: Answer;
  /** Answer of success that says no. */
  readonly refusal?: Answer;
  /** Scopes that a run may use after it; default those that were asked for. */
  readonly scopes?: readonly string[];
}

const bearer = (more: object = {}) => ({ access_token: "one", token_type: "Bearer", ...more });
const short = (more: object = {}) => bearer({ expires_in: 1, refresh_token: "r1", ...more });
const again = (more: object = {}) => ({
  access_token: "two",
  token_type: "bearer",
  expires_in: 3600,
  ...more,
});

const ODD: { readonly [name: string]: Odd } = {
  github: {
    first: "access_token=one&scope=repo%2Cread%3Auser&token_type=bearer",
    refusal: "error=bad_verification_code&error_description=The+code+is+incorrect",
    scopes: ["repo", "public_repo", "read:user"],
  },
  slack: {
    first: {
      ...{ ok: true, access_token: "one", token_type: "bot", bot_user_id: "U0", app_id: "A0" },
      scope:
        "chat:write,channels:read,channels:history,users:read,users:read.email,reactions:write,im:write",
      authed_user: { id: "U1" },
    },
    refusal: { ok: false, error: "invalid_code" },
  },
  notion: {
    first: { ...bearer({ token_type: "bearer", refresh_token: null }), bot_id: "b", owner: {} },
    scopes: [],
  },
  linear: {
    first: short({ scope: ["read", "write"] }),
    refreshed: again({ scope: ["read", "write"], refresh_token: "r2" }),
  },
  dropbox: { first: short({ uid: "1", account_id: "dbid:1" }), refreshed: again(), scopes: [] },
  "jira-oauth": {
    first: short({ scope: "read:jira-work write:jira-work read:jira-user offline_access" }),
    refreshed: again({ refresh_token: "r2", scope: "read:jira-work write:jira-work" }),
    scopes: ["read:jira-work", "write:jira-work"],
  },
  "microsoft-graph": {
    first: short({ scope: "User.Read Mail.ReadWrite", ext_expires_in: 1 }),
    refreshed: again({ refresh_token: "r2", scope: "User.Read Mail.ReadWrite" }),
    scopes: ["User.Read", "Mail.ReadWrite", "Mail.Read"],
  },
  "shopify-oauth": {
    first: { access_token: "one", scope: "write_products,write_orders" },
    scopes: ["write_products", "read_products", "write_orders", "read_orders"],
  },
  hubspot: { first: short(), refreshed: again({ refresh_token: "r1" }), scopes: [] },
  "zendesk-oauth": { first: bearer({ scope: "read write" }) },
  asana: { first: short({ data: { gid: "1" } }), refreshed: again({ data: {} }), scopes: [] },
};

/** What most do: short tokens with the scopes that were asked for, and another refresh token with each. */
const usual = ({ scopes }: OAuth2): Odd => ({
  first: short({ scope: scopes.join(" ") }),
  refreshed: again({ refresh_token: "r2", scope: scopes.join(" ") }),
});

const toResponse = (answer: Answer) =>
  typeof answer === "string" ? new Response(answer) : Response.json(answer);

/** The connections of one service, whose token endpoint answers in turn, and what it was asked. */
function connectionsTo(service: ServiceSpec, answers: Answer[]) {
  const asked: {
    readonly url: string;
    readonly headers: Headers;
    readonly form: URLSearchParams;
  }[] = [];
  const connections = createServiceConnections({
    services: [defineService(service)],
    store: memoryCredentialStore(),
    storeName: "memory",
    log: { debug() {}, info() {}, warn() {}, error() {} } as never,
    now: Date.now,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    fetch: async (url, { headers, body } = {}) => {
      asked.push({
        url: String(url),
        headers: new Headers(headers),
        form: new URLSearchParams(String(body)),
      });
      return toResponse(answers.shift() ?? { error: "invalid_request" });
    },
  });
  return { connections, asked };
}

const CONSENTS = VARIANTS.filter(
  ([, { serviceIntegration }]) => serviceIntegration.auth.scheme === "oauth2",
);

test.each(CONSENTS)(
  "%s: a consent gives a token that runs use, and that is renewed",
  async (name, service) => {
    const auth = service.serviceIntegration.auth as OAuth2;
    const odd = ODD[name] ?? usual(auth);
    const answers = [odd.refusal, odd.first, odd.refreshed].filter(
      (answer) => answer !== undefined,
    );
    const { connections, asked } = connectionsTo(service, [...answers]);
    const { slug } = service;
    const redirectUri = "http://127.0.0.1:8976/callback";
    const begin = () =>
      connections.connect({ slug, receiver: "caller", redirectUri, client: CLIENT } as never);
    const finish = async ({ connectId, authorizeUrl }: Awaited<ReturnType<typeof begin>>) => {
      const state = new URL(authorizeUrl).searchParams.get("state") ?? "";
      return connections.complete({ connectId, code: CODE, state });
    };
    if (odd.refusal !== undefined) {
      await expect(finish(await begin())).rejects.toThrow();
    }
    const started = await begin();
    const { origin, pathname, searchParams } = new URL(started.authorizeUrl);
    const wanted = new URL(auth.authorizeUrl);
    expect(origin + pathname).toBe(wanted.origin + wanted.pathname);
    for (const [key, value] of wanted.searchParams) expect(searchParams.get(key)).toBe(value);
    expect(searchParams.get("scope")).toBe(auth.scopes.join(auth.scopeSeparator ?? " "));
    expect(searchParams.has("code_challenge")).toBe(auth.pkce === true);
    const status = await finish(started);
    expect([status.status, status.refreshable]).toEqual(["connected", odd.refreshed !== undefined]);

    const exchange = asked.at(-1);
    expect(exchange?.url).toBe(auth.tokenUrl);
    expect(exchange?.headers.get("accept")).toBe("application/json");
    expect(exchange?.form.get("code")).toBe(CODE);
    expect(exchange?.form.has("code_verifier")).toBe(auth.pkce === true);
    const isBasic = auth.clientAuth === "basic";
    expect(exchange?.form.get("client_secret")).toBe(isBasic ? null : SECRET);
    const basic = `Basic ${btoa("client:client+secret%2F%2B")}`;
    expect(exchange?.headers.get("authorization")).toBe(isBasic ? basic : null);

    const signal = new AbortController().signal;
    const credential = await connections.credentials.resolve(slug, { signal, service: slug });
    expect(credential.reveal()).toBe(odd.refreshed === undefined ? "one" : "two");
    if (odd.refreshed !== undefined) {
      expect(asked.at(-1)?.form.get("grant_type")).toBe("refresh_token");
      expect(asked.at(-1)?.form.get("refresh_token")).toBe("r1");
    }
    expect([...credential.scopes].sort()).toEqual([...(odd.scopes ?? scopesAfter(auth))].sort());
    await connections.close();
  },
);

/** What was asked for, with what it includes. */
function scopesAfter({ scopes, includes = {} }: OAuth2): readonly string[] {
  return scopes.flatMap((scope) => [scope, ...(includes[scope] ?? [])]);
}
