/** Credentials for runs: fresh ones and renewed ones. Every way in which there is none: `credential-failures.test.ts`. */
import { inspect } from "node:util";
import type { Lock } from "@millrace/oauth";
import {
  createServiceCredentials,
  memoryConnectionRecords,
  type ServiceCredentialsOptions,
} from "@millrace/server/connections";
import { crm } from "@millrace/test-support/definitions";
import { startHostileTokenEndpoint } from "@millrace/test-support/hostile-token-endpoint";
import { describe, expect, onTestFinished, test } from "vitest";
import { credentialsConformance } from "../../../testkit/src/services/credentials-conformance.ts";
import {
  asked,
  authorizationServer,
  consent,
  credentials,
  failure,
  nowhere,
  oauth2,
  PAST,
  service,
  stored,
  watchedStore,
} from "./support.ts";

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
