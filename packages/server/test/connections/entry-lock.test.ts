/** Renewals and commands on one entry at the same time. */
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { createServiceConnections } from "@millrace/server/connections";
import { expect, test } from "vitest";
import { keepLog } from "../support/server.ts";
import { CLIENT, oauth2, service, stored } from "./support.ts";

const NOWHERE = "https://auth.example";
const signal = new AbortController().signal;

function signalled(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Connections whose token endpoint answers when it is told to. */
function slowly() {
  const entry = stored({ refresh_token: "r", expires_at: "2020-01-01T00:00:00Z" });
  const store = memoryCredentialStore({ "client:tracker": CLIENT, "service:tracker": entry });
  const asked = signalled();
  const answered = signalled();
  const urls = {
    authorizeUrl: `${NOWHERE}/authorize`,
    tokenUrl: `${NOWHERE}/token`,
    revocationUrl: `${NOWHERE}/revoke`,
  };
  const connections = createServiceConnections({
    store,
    storeName: "memory",
    services: [service("tracker", oauth2(urls)), service("mail", { scheme: "bearer" })],
    fetch: async (url) => {
      if (String(url) === urls.revocationUrl) return new Response(null);
      asked.resolve();
      await answered.promise;
      return Response.json({ access_token: "renewed", token_type: "Bearer" });
    },
    log: keepLog(),
    now: Date.now,
    random: (bytes) => new Uint8Array(bytes),
  });
  return { store, connections, asked: asked.promise, answer: answered.resolve };
}

test("a renewal under way does not bring back what was disconnected", async () => {
  const { store, connections, asked, answer } = slowly();
  const renewal = connections.credentials.resolve("tracker", { signal });
  await asked;
  const gone = connections.disconnect("tracker");
  answer();
  expect((await renewal).reveal()).toBe("renewed");
  await gone;
  expect(await store.get("service:tracker")).toBeUndefined();
});

test("a renewal under way does not replace a secret that was set meanwhile", async () => {
  const { store, connections, asked, answer } = slowly();
  const renewal = connections.credentials.resolve("tracker", { signal });
  await asked;
  const set = connections.setSecret({ slug: "tracker", service: "mail", value: "new" });
  answer();
  await Promise.all([renewal, set]);
  expect(await store.get("service:tracker")).toContain('"new"');
});
