/** Runs that call connected services, from the consent to the call. */
import type { ConnectStarted, ServiceInfo } from "@millrace/contracts";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test, vi } from "vitest";
import { invoke, post, serve } from "../support/server.ts";
import { readEvents } from "../support/streams.ts";
import { authorizationServer, consent, oauth2, service, stored, watchedStore } from "./support.ts";

const flowOf = (service: string): string => `flow 1 call

connection tracker: oauth {
  service = "${service}"
  slug    = "tracker-eu"
}

node call: service.call {
  connection = "tracker"
  operation  = "list"
}

output body: any = call.body
`;

/** An API that refuses some access tokens, and remembers which ones it was shown. */
async function api(refuses: (token: string) => boolean) {
  const shown: string[] = [];
  const { url: baseUrl } = await serveHttp((request, response) => {
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    shown.push(token);
    response.writeHead(refuses(token) ? 401 : 200, { "content-type": "application/json" });
    response.end('{"items":[1]}');
  });
  return { baseUrl, shown };
}

async function world() {
  const auth = await authorizationServer();
  const refused = new Set<string>();
  const { baseUrl, shown } = await api((token) => refused.has(token) || refused.has("any"));
  const store = watchedStore({
    "client:tracker": JSON.stringify({ client_id: "client", client_secret: "client-secret" }),
  });
  const server = await serve({
    services: [
      service("tracker", oauth2(auth), baseUrl),
      service("other", { scheme: "bearer" }, baseUrl),
    ],
    credentials: { store },
    egress: { allow: [{ cidr: "127.0.0.0/8" }] },
  });
  const run = async (of = "tracker") => {
    const events = await readEvents(await post(server, "/api/run", { dsl: flowOf(of) }));
    return { events, summary: events.at(-1) as Record<string, unknown> };
  };
  const token = async () =>
    JSON.parse((await store.entries())["service:tracker-eu"] ?? "{}") as Record<string, string>;
  const connect = async () => {
    const { connectId, authorizeUrl } = await invoke<ConnectStarted>(server, "connect_service", {
      slug: "tracker-eu",
      service: "tracker",
      receiver: "caller",
      redirectUri: "http://127.0.0.1:9/callback",
    });
    const { code, state } = await consent(authorizeUrl);
    await invoke(server, "complete_connect", { connectId, code, state });
  };
  const status = async () => {
    const { connections } = await invoke<ServiceInfo>(server, "get_service", { slug: "tracker" });
    return connections[0];
  };
  const tokenRequests = () => auth.requests.filter(({ path }) => path === "/token").length;
  return { auth, store, shown, refused, run, token, connect, status, tokenRequests };
}

test("a connected service is called, survives a 401, and no event shows a token", async () => {
  const { connect, shown, refused, run, token, tokenRequests } = await world();
  await connect();
  const first = await token();
  const before = await run();
  expect(before.summary).toMatchObject({ status: "succeeded", outputs: { body: { items: [1] } } });
  refused.add(first["access_token"] ?? "");
  const { events, summary } = await run();
  expect(summary).toMatchObject({ status: "succeeded" });
  const second = await token();
  expect(shown).toEqual([first, first, second].map((each) => each["access_token"]));
  expect(tokenRequests()).toBe(2);
  const text = JSON.stringify([before.events, events]);
  for (const each of [first, second]) {
    expect(text).not.toContain(each["access_token"]);
    expect(text).not.toContain(each["refresh_token"]);
  }
});

test("a service that refuses fresh tokens needs a person, is left alone, and the status says so", async () => {
  const { connect, status, refused, run, tokenRequests } = await world();
  await connect();
  refused.add("any");
  const { summary } = await run();
  expect(summary).toMatchObject({
    status: "failed",
    error: {
      code: "credentials_expired",
      message: expect.stringMatching(/Reconnect the service: millrace connect tracker-eu$/),
    },
  });
  expect(tokenRequests()).toBe(2);
  await vi.waitFor(
    async () =>
      expect(await status()).toMatchObject({
        status: "reconnect_required",
        lastError: { code: "credentials_expired" },
      }),
    20_000,
  );
  expect((await run()).summary).toMatchObject({ error: { code: "credentials_expired" } });
  expect(tokenRequests()).toBe(2);
  refused.clear();
  await connect();
  expect((await run()).summary).toMatchObject({ status: "succeeded" });
  expect(await status()).toMatchObject({ status: "connected" });
  expect(await status()).not.toHaveProperty("lastError");
});

test("an entry without a record is of the service that the flow says", async () => {
  const { store, shown, run } = await world();
  await store.set("service:tracker-eu", stored({ access_token: "by-hand" }));
  expect((await run()).summary).toMatchObject({ status: "succeeded" });
  expect(shown).toEqual(["by-hand"]);
});

test("a flow cannot send a credential to another service than its own", async () => {
  const { connect, shown, run } = await world();
  await connect();
  expect((await run("other")).summary).toMatchObject({
    status: "failed",
    error: { code: "credentials_missing" },
  });
  expect(shown).toEqual([]);
});

test("what is not connected fails the run with what to do", async () => {
  const { run, store } = await world();
  expect((await run()).summary).toMatchObject({
    status: "failed",
    error: {
      code: "credentials_missing",
      message: expect.stringMatching(/Connect it: millrace connect tracker-eu --service tracker$/),
    },
  });
  store.failure = new Error("s3cret");
  const { events, summary } = await run();
  expect(summary).toMatchObject({ status: "failed", error: { code: "unavailable" } });
  expect(JSON.stringify(events)).not.toContain("s3cret");
});

test("a token endpoint that is not there is told apart from the service", async () => {
  const { auth, run, shown, store } = await world();
  const token = stored({ refresh_token: "r", expires_at: "2020-01-01T00:00:00.000Z" });
  await store.set("service:tracker-eu", token);
  await auth.close();
  expect((await run()).summary).toMatchObject({
    status: "failed",
    error: {
      code: "network",
      message: expect.stringMatching(
        /^the credential of connection "tracker-eu" could not be renewed: .*\(ECONNREFUSED\)$/,
      ),
    },
  });
  expect(shown).toEqual([]);
});
