/** Credentials for runs: fresh ones, renewed ones, and every way in which there is none. */
import { inspect } from "node:util";
import { exitCodeFor, NodeError } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { type Lock, OAuthError } from "@millrace/oauth";
import {
  createServiceCredentials,
  egressFetch,
  memoryConnectionRecords,
  type ServiceCredentialsOptions,
} from "@millrace/server/connections";
import { crm } from "@millrace/test-support/definitions";
import { startHostileTokenEndpoint } from "@millrace/test-support/hostile-token-endpoint";
import { describe, expect, onTestFinished, test } from "vitest";
import { credentialsConformance } from "../../../testkit/src/services/credentials-conformance.ts";
import {
  authorizationServer,
  CLIENT,
  consent,
  oauth2,
  service,
  stored,
  watchedStore,
} from "./support.ts";

const PAST = "2020-01-01T00:00:00.000Z";
/** A caller who stays. */
const asked = () => ({ signal: new AbortController().signal });
const NOWHERE = "http://127.0.0.1:1";
const nowhere = {
  authorizeUrl: `${NOWHERE}/authorize`,
  tokenUrl: `${NOWHERE}/token`,
  revocationUrl: `${NOWHERE}/revoke`,
};

/** Credentials over a store with these entries; the clock stands still unless the test moves it. */
function credentials(
  entries: Record<string, string>,
  options: Partial<ServiceCredentialsOptions> = {},
) {
  const store = watchedStore({ "client:tracker": CLIENT, ...entries });
  const clock = { now: Date.parse("2026-01-01T00:00:00Z") };
  const services = new Map(
    [
      service("tracker", oauth2(nowhere)),
      service("mail", { scheme: "bearer" }),
      service("open", { scheme: "none" }),
    ].map((each) => [each.slug, each]),
  );
  const port = createServiceCredentials({ store, services, now: () => clock.now, ...options });
  return { store, clock, port };
}

/** Credentials of a connection whose token came from an authorization server and has expired. */
async function expired(options: Partial<ServiceCredentialsOptions> = {}) {
  const server = await authorizationServer();
  const { code } = await consent(
    `${server.authorizeUrl}?client_id=client&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F&scope=read`,
  );
  const grant = await fetch(server.tokenUrl, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      client_id: "client",
      client_secret: "client-secret",
      redirect_uri: "http://127.0.0.1:1/",
    }),
  });
  const token = (await grant.json()) as { access_token: string; refresh_token: string };
  const entry = stored({ ...token, expires_at: PAST, scope: "read" });
  const services = new Map([["tracker", service("tracker", oauth2(server))]]);
  const made = credentials({ "service:tracker": entry }, { services, ...options });
  const refreshes = () => server.requests.filter(({ path }) => path === "/token").length - 1;
  return { ...made, server, refreshes, token };
}

async function failure(work: Promise<unknown>): Promise<NodeError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!NodeError.isInstance(error)) throw new Error(`not a NodeError: ${inspect(error)}`);
  return error;
}

describe("the suite of all hosts", () => {
  const cases = credentialsConformance(
    crm,
    async ({ service: { slug, ...rest }, client, token }) => {
      const store = watchedStore({
        [`client:${slug}`]: JSON.stringify(client),
        [`service:${slug}`]: JSON.stringify(token),
      });
      const services = new Map([[slug, { slug, ...rest }]]);
      return { credentials: createServiceCredentials({ store, services }) };
    },
  );
  test.each(cases)("$name", ({ run }) => run());
});

describe("resolve", () => {
  test("gives a fresh token without a request, and remembers it for 30 s", async () => {
    const { port, store, clock } = credentials({
      "service:tracker": stored({ scope: "read write", expires_at: "2026-01-01T01:00:00Z" }),
    });
    const credential = await port.resolve("tracker", asked());
    expect([credential.scheme, credential.scopes, credential.reveal()]).toEqual([
      "oauth2",
      ["read", "write"],
      "stored-token",
    ]);
    clock.now += 29_999;
    await port.resolve("tracker", asked());
    expect(store.reads).toBe(1);
    clock.now += 1;
    await port.resolve("tracker", asked());
    expect(store.reads).toBe(2);
  });

  test("remembers nothing past its expiry", async () => {
    const { port, store, clock } = credentials({
      "service:tracker": stored({ expires_at: "2026-01-01T00:01:10Z" }),
    });
    await port.resolve("tracker", asked());
    clock.now += 10_000; // a minute before the end
    expect((await failure(port.resolve("tracker", asked()))).code).toBe("no_refresh_token");
    expect(store.reads).toBeGreaterThan(1);
  });

  test("renews an expired token once, whoever asks, and stores it", async () => {
    const { port, store, server, refreshes, token } = await expired();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => port.resolve("tracker", asked())),
    );
    const values = new Set(all.map((credential) => credential.reveal()));
    expect(refreshes()).toBe(1);
    expect(values.size).toBe(1);
    const [value = ""] = values;
    expect(value).not.toBe(token.access_token);
    expect(server.accepts(value)).toBe(true);
    expect((await store.entries())["service:tracker"]).toContain(value);
  });

  test("takes the lock for a renewal, and for nothing else", async () => {
    const taken: string[] = [];
    const lock: Lock = {
      acquire: async (key) => {
        taken.push(key);
        return { held: async () => true, release: async () => void taken.push("released") };
      },
    };
    const { port } = await expired({ lock });
    await port.resolve("tracker", asked());
    await port.resolve("tracker", asked());
    expect(taken).toEqual([expect.stringContaining("tracker"), "released"]);
  });

  test("gives secrets of other schemes as they are stored, and nothing for none", async () => {
    const { port, store } = credentials({ "service:mail": stored({ access_token: "key" }) });
    expect((await port.resolve("mail", asked())).reveal()).toBe("key");
    const none = await port.resolve("open", asked());
    expect([none.scheme, none.reveal(), store.reads]).toEqual(["none", "", 1]);
  });

  test("asks for the service of the record, else of the flow, else of the slug", async () => {
    const connections = memoryConnectionRecords();
    const entries = { "service:eu": stored(), "service:mail": stored() };
    const { port } = credentials(entries, { connections });
    expect((await failure(port.resolve("eu", asked()))).message).toBe(
      'connection "eu" is of no service that is known here. Connect it: millrace connect eu',
    );
    expect((await port.resolve("eu", { ...asked(), service: "mail" })).scheme).toBe("bearer");
    expect((await port.resolve("mail", asked())).scheme).toBe("bearer");
    await connections.put({ slug: "eu", service: "tracker", scopes: [] });
    port.forget("eu");
    expect((await port.resolve("eu", asked())).scheme).toBe("oauth2");
  });

  test("gives a credential to no other service than the one that it is of", async () => {
    const connections = memoryConnectionRecords();
    await connections.put({ slug: "eu", service: "tracker", scopes: [] });
    const entries = { "service:eu": stored(), "service:tracker": stored() };
    const { port } = credentials(entries, { connections });
    for (const slug of ["eu", "tracker"]) {
      const aimed = { ...asked(), service: "mail" };
      const refused = await failure(port.resolve(slug, aimed));
      expect([refused.code, refused.message]).toEqual([
        "credentials_missing",
        `connection "${slug}" is of service "tracker", not of "mail". Connect it: millrace connect ${slug}`,
      ]);
      const own = await port.resolve(slug, { ...asked(), service: "tracker" });
      expect(own.reveal()).toBe("stored-token");
      expect((await failure(port.renew(slug, own, aimed))).code).toBe("credentials_missing");
      expect((await failure(port.resolve(slug, aimed))).code).toBe("credentials_missing");
    }
  });

  test("remembers nothing that it read before it was told to forget", async () => {
    const { port, store } = credentials({ "service:mail": stored() });
    const { get } = store;
    store.get = async (account) => {
      const text = await get(account);
      await store.delete(account);
      port.forget("mail");
      return text;
    };
    await port.resolve("mail", asked());
    expect((await failure(port.resolve("mail", asked()))).code).toBe("credentials_missing");
  });

  test("sees another credential at once when it is told to forget the old one", async () => {
    const { port, store } = credentials({ "service:mail": stored({ access_token: "one" }) });
    await port.resolve("mail", asked());
    await store.set("service:mail", stored({ access_token: "two" }));
    port.forget("mail");
    expect((await port.resolve("mail", asked())).reveal()).toBe("two");
  });

  test("ends with the reason of an abort", async () => {
    const hanging = await startHostileTokenEndpoint({ script: [{ fault: "silence" }] });
    onTestFinished(() => hanging.close());
    const controller = new AbortController();
    const services = new Map([
      ["tracker", service("tracker", oauth2({ ...nowhere, tokenUrl: hanging.tokenUrl }))],
    ]);
    const entry = stored({ refresh_token: "r", expires_at: PAST });
    const { port } = credentials({ "service:tracker": entry }, { services });
    const waiting = port.resolve("tracker", { signal: controller.signal });
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
  });

  test("reads scopes that are parted by commas", async () => {
    const { port } = credentials({ "service:mail": stored({ scope: "repo,gist" }) });
    expect((await port.resolve("mail", asked())).scopes).toEqual(["repo", "gist"]);
  });
});

describe("renew", () => {
  test("makes one request for any number of refusals, and resolve gives the new token", async () => {
    const { port, refreshes } = await expired();
    const first = await port.resolve("tracker", asked());
    const all = await Promise.all(
      Array.from({ length: 10 }, () => port.renew("tracker", first, asked())),
    );
    expect(refreshes()).toBe(2);
    const values = new Set(all.map((credential) => credential.reveal()));
    expect([...values]).toEqual([(await port.resolve("tracker", asked())).reveal()]);
    expect(values).not.toContain(first.reveal());
  });

  test("takes what another process has stored instead of a request", async () => {
    const { port, store } = credentials({ "service:tracker": stored({ refresh_token: "r" }) });
    const first = await port.resolve("tracker", asked());
    await store.set("service:tracker", stored({ access_token: "newer" }));
    expect((await port.renew("tracker", first, asked())).reveal()).toBe("newer");
  });

  test("makes no request for a minute after the new token was refused, too", async () => {
    const connections = memoryConnectionRecords();
    await connections.put({ slug: "tracker", service: "tracker", scopes: [] });
    const { port, clock, refreshes } = await expired({ connections });
    const first = await port.resolve("tracker", asked());
    const second = await port.renew("tracker", first, asked());
    port.refused("tracker", second);
    const error = await failure(port.renew("tracker", second, asked()));
    expect([error.code, error.message]).toEqual([
      "credentials_expired",
      'the credential of connection "tracker" was refused. Reconnect the service: millrace connect tracker',
    ]);
    expect(refreshes()).toBe(2);
    expect(await connections.get("tracker")).toMatchObject({
      reconnect: true,
      lastError: { code: "credentials_expired" },
    });
    clock.now += 60_000;
    await port.renew("tracker", second, asked());
    expect(refreshes()).toBe(3);
    expect(await connections.get("tracker")).toEqual({
      slug: "tracker",
      service: "tracker",
      scopes: [],
    });
  });

  test("is no way out for a scheme that cannot renew", async () => {
    const { port } = credentials({ "service:mail": stored() });
    const credential = await port.resolve("mail", asked());
    expect((await failure(port.renew("mail", credential, asked()))).code).toBe(
      "credentials_expired",
    );
  });
});

describe("what fails a node", () => {
  const refreshable = stored({ refresh_token: "r3fresh-s3cret", expires_at: PAST });
  const CONNECT = "Connect it: millrace connect tracker";
  const RECONNECT = "Reconnect the service: millrace connect tracker";

  interface Given {
    readonly entry?: string;
    readonly client?: string;
    readonly store?: Error;
    /** What the token endpoint answers. */
    readonly answer?: { readonly status: number; readonly body?: string };
  }
  type Row = [name: string, code: string, exit: number, ends: string, Given, more?: object];
  const locked = new OAuthError("Credential", "credential store: locked. Unlock it.", {
    reason: "locked",
  });
  const busy = new OAuthError("Credential", "credential store: busy. Try again.", {
    reason: "lock_timeout",
  });
  /** A renewal that gets this answer. */
  const renewed = (status: number, body?: object) => ({
    entry: refreshable,
    answer: { status, ...(body && { body: JSON.stringify(body) }) },
  });
  const refused = renewed(200, { ok: false, error: "invalid_refresh_token" });
  const noToken = "access_token must be a string that is not empty";
  const retryable = true;

  test.each<Row>([
    ["no entry", "credentials_missing", 5, CONNECT, {}],
    ["no refresh token", "no_refresh_token", 5, RECONNECT, { entry: stored({ expires_at: PAST }) }],
    ...["invalid_grant", "invalid_client", "unauthorized_client"].map(
      (error): Row => [error, "credentials_expired", 5, RECONNECT, renewed(400, { error })],
    ),
    ["a refusal with a status of success", "credentials_expired", 5, RECONNECT, refused],
    ["an entry that is no token", "credentials_expired", 5, RECONNECT, { entry: "s3cret" }],
    [
      "a client that is none",
      "credentials_expired",
      5,
      RECONNECT,
      { entry: refreshable, client: "s3cret" },
    ],
    ["a locked store", "unavailable", 6, "Unlock it.", { store: locked }],
    ["a store that is busy", "unavailable", 6, "Try again.", { store: busy }, { retryable }],
    ["a store that throws", "unavailable", 6, "try again.", { store: new Error("s3cret") }],
    [
      "a server that is not there",
      "network",
      1,
      "127.0.0.1:1",
      { entry: refreshable },
      { retryable },
    ],
    ["a server that is busy", "http_status", 1, "503", renewed(503), { retryable, status: 503 }],
    [
      "a server that refuses something else",
      "http_status",
      1,
      "400",
      renewed(400, { error: "invalid_scope" }),
      { status: 400 },
    ],
    ["an answer that is no token", "decode_failed", 1, noToken, renewed(200, {})],
  ])("%s: %s", async (_name, code, exit, ends, given, more) => {
    const { entry, answer, store: fault, client } = given;
    let { tokenUrl } = nowhere;
    if (answer !== undefined) {
      const endpoint = await startHostileTokenEndpoint({ script: [answer] });
      onTestFinished(() => endpoint.close());
      tokenUrl = endpoint.tokenUrl;
    }
    const services = new Map([["tracker", service("tracker", oauth2({ ...nowhere, tokenUrl }))]]);
    const entries = {
      ...(entry !== undefined && { "service:tracker": entry }),
      ...(client !== undefined && { "client:tracker": client }),
    };
    const { port, store } = credentials(entries, { services });
    store.failure = fault;
    const error = await failure(port.resolve("tracker", asked()));
    const { retryable, status } = error;
    const wanted = { code, retryable: false, status: undefined, ...more };
    expect({ code: error.code, retryable, status }).toEqual(wanted);
    expect(error.message.endsWith(ends), error.message).toBe(true);
    expect(exitCodeFor({ status: "failed", error: { code } })).toBe(exit);
    const shown = `${error.stack} ${JSON.stringify(error)} ${inspect(error, { showHidden: true })}`;
    expect(shown).not.toMatch(/s3cret/);
  });

  test("no OAuth client for a token that must be renewed", async () => {
    const { port, store } = credentials({ "service:tracker": refreshable });
    await store.delete("client:tracker");
    expect((await failure(port.resolve("tracker", asked()))).message).toBe(
      `no OAuth client of service "tracker" is stored. ${CONNECT}`,
    );
  });

  test("a refusal of the egress policy keeps its own code", async () => {
    const denied = new NodeError("egress_denied", "private-address: 127.0.0.1 is denied", {
      reason: "denied",
    });
    const { port } = credentials(
      { "service:tracker": refreshable },
      { fetch: () => Promise.reject(denied) },
    );
    expect((await failure(port.resolve("tracker", asked()))).code).toBe("egress_denied");
  });

  test("behind the egress policy a token endpoint that is not there is named, and nothing of the call was sent", async () => {
    const fetch = egressFetch(createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }] }));
    const { port } = credentials({ "service:tracker": refreshable }, { fetch });
    const error = await failure(port.resolve("tracker", asked()));
    expect(error).toMatchObject({ code: "network", retryable: true, sent: false });
    expect(error.message).toMatch(/^the credential of connection "tracker" could not be renewed: /);
    expect(error.message).toContain("127.0.0.1 failed (ECONNREFUSED)");
  });

  test("behind the egress policy a token endpoint that redirects is an answer of its own, and is not followed", async () => {
    const headers = { location: "/elsewhere" };
    const endpoint = await startHostileTokenEndpoint({ script: [{ status: 307, headers }] });
    onTestFinished(() => endpoint.close());
    const fetch = egressFetch(createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.0/8" }] }));
    const { tokenUrl } = endpoint;
    const services = new Map([["tracker", service("tracker", oauth2({ ...nowhere, tokenUrl }))]]);
    const { port } = credentials({ "service:tracker": refreshable }, { fetch, services });
    const error = await failure(port.resolve("tracker", asked()));
    expect(error).toMatchObject({ code: "http_status", status: 307 });
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe("secret", () => {
  test("reads the accounts of ai and of extensions, and no others", async () => {
    const { port } = credentials({
      "ai:openai": "one",
      "ext:WEATHER_KEY": "two",
      "service:mail": "three",
    });
    expect(await port.secret("ai:openai")).toBe("one");
    expect(await port.secret("WEATHER_KEY")).toBe("two");
    expect(await port.secret("ext:WEATHER_KEY")).toBe("two");
    for (const name of ["service:mail", "client:tracker", "ai:none"]) {
      expect(await port.secret(name)).toBeUndefined();
    }
  });

  test("of a store that fails is unavailable, not missing", async () => {
    const { port, store } = credentials({});
    store.failure = new Error("s3cret");
    const error = await failure(port.secret("WEATHER_KEY"));
    expect(error.code).toBe("unavailable");
    expect(inspect(error)).not.toContain("s3cret");
  });
});

test("a credential shows its value to nobody who does not ask", async () => {
  const { port } = credentials({ "service:mail": stored({ access_token: "s3cret" }) });
  const credential = await port.resolve("mail", asked());
  for (const shown of [
    JSON.stringify({ credential }),
    inspect(credential, { showHidden: true, depth: 9 }),
    String(credential),
  ]) {
    expect(shown).toContain("[redacted]");
    expect(shown).not.toContain("s3cret");
  }
});
