/** A real OpenID provider, from the consent of a person to the end of the grant. */
import type { ConnectStarted, ServiceInfo } from "@millrace/contracts";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test, vi } from "vitest";
import { answerConsent, startProvider } from "../../../oauth/test/real/provider.ts";
import { invoke, keepLog, post, serve } from "../support/server.ts";
import { readEvents } from "../support/streams.ts";
import { oauth2, service, watchedStore } from "./support.ts";

const FLOW = `flow 1 call

connection tracker: oauth {
  service = "tracker"
}

node call: service.call {
  connection = "tracker"
  operation  = "list"
}

output body: any = call.body
`;

/** An API that takes the access tokens of the provider. */
async function api(accepts: (token: string) => Promise<boolean>): Promise<string> {
  const { url } = await serveHttp(async (request, response) => {
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    response.writeHead((await accepts(token)) ? 200 : 401, { "content-type": "application/json" });
    response.end('{"items":[1]}');
  });
  return url;
}

test("is consented to, called, renewed after a 401, and revoked, and nothing shows a secret", async () => {
  const provider = await startProvider({ pkceRequired: true });
  const refused = new Set<string>();
  const baseUrl = await api(
    async (token) => !refused.has(token) && (await provider.userinfo(token)) === 200,
  );
  const store = watchedStore();
  const log = keepLog();
  const auth = oauth2(provider, { pkce: true, scopes: provider.scopes });
  const server = await serve({
    services: [service("tracker", auth, baseUrl)],
    credentials: { store },
    egress: { allow: [{ cidr: "127.0.0.0/8" }] },
    log,
  });
  const shown: unknown[] = [log.lines];
  const call = async <T>(command: string, args: object): Promise<T> => {
    const result = await invoke<T>(server, command, args);
    shown.push(result);
    return result;
  };
  const token = async () =>
    JSON.parse((await store.entries())["service:tracker"] ?? "{}") as Record<string, string>;
  const run = async () => {
    const events = await readEvents(await post(server, "/api/run", { dsl: FLOW }));
    shown.push(events);
    return events.at(-1);
  };

  const client = { client_id: provider.clientId, client_secret: provider.clientSecret };
  await call("set_service_secret", { slug: "tracker", service: "tracker", value: client });
  const { connectId, authorizeUrl } = await call<ConnectStarted>("connect_service", {
    slug: "tracker",
  });
  const page = await fetch(await answerConsent(authorizeUrl));
  expect([page.status, await page.text()]).toEqual([200, expect.not.stringContaining("code")]);
  await vi.waitFor(
    async () =>
      expect(await call("get_connect_status", { connectId })).toEqual({ state: "connected" }),
    { timeout: 20_000 }, // the exchange goes on behind the page
  );
  expect(await run()).toMatchObject({ status: "succeeded", outputs: { body: { items: [1] } } });

  const first = await token();
  refused.add(first["access_token"] ?? "");
  expect(await run()).toMatchObject({ status: "succeeded" });
  const second = await token();
  expect(second["refresh_token"]).not.toBe(first["refresh_token"]);
  expect(provider.grants()).toBe(2);

  await call("disconnect_service", { slug: "tracker" });
  expect(provider.revoked()).toBe(1);
  expect(await provider.userinfo(second["access_token"])).toBe(401);
  expect(await run()).toMatchObject({ status: "failed", error: { code: "credentials_missing" } });
  expect((await call<ServiceInfo>("get_service", { slug: "tracker" })).connections).toEqual([]);

  const text = JSON.stringify(shown);
  for (const secret of [client.client_secret, ...Object.values({ ...first, ...second })]) {
    if (secret.length > 20) expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
});
