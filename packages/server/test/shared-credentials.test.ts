/** Credentials of the servers of one store: sealed there, renewed by one server at a time, and the same at all of them. */

import { text } from "node:stream/consumers";
import { credentialStoreCases } from "@millrace/oauth/testing";
import { createServer } from "@millrace/server";
import {
  openPostgresDatabase,
  openPostgresStore,
  type PostgresStoreOptions,
} from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { serveHttp } from "@millrace/test-support/loopback";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { authorizationServer, consent, oauth2, service } from "./connections/support.ts";

const KEY = new Uint8Array(32).fill(3);
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
let schemas = 0;

async function partsOf(options: Partial<PostgresStoreOptions> = {}) {
  const { url } = await sharedPostgres();
  schemas += 1;
  const schema = `credentials_${process.pid}_${schemas}`;
  return { url, schema, key: KEY, connections: 4, ...options };
}

async function open(parts: PostgresStoreOptions) {
  const store = await openPostgresStore(parts);
  onTestFinished(() => store.close());
  return store;
}

const tracker = service("tracker", { scheme: "bearer" });

describeWith("postgres")("credentials in PostgreSQL", () => {
  test("are a store of credentials like any other", async () => {
    const { credentials } = await open(await partsOf());
    for (const { name, run } of credentialStoreCases(() => credentials)) {
      await run().catch((cause: unknown) => expect.fail(`${name}: ${String(cause)}`));
    }
  });

  test("open at every server, are not to be read in the table, and nowhere but in their row", async () => {
    const parts = await partsOf();
    const [one, other] = [await open(parts), await open(parts)];
    await one.credentials.set("service:a", "s3cret");
    await one.credentials.set("service:b", "other");
    expect(await other.credentials.get("service:a")).toBe("s3cret");
    const database = await openPostgresDatabase(parts);
    onTestFinished(() => database.close());
    for (const { body } of await database.all("SELECT body FROM credential")) {
      expect(Buffer.from(body as Uint8Array).toString("latin1")).not.toMatch(/s3cret|other/);
    }
    const moved =
      "UPDATE credential SET (nonce, body) = (SELECT nonce, body FROM credential WHERE account = ?) WHERE account = ?";
    await database.write([{ sql: moved, rows: [["service:a", "service:b"]] }]);
    await expect(other.credentials.get("service:b")).rejects.toMatchObject({
      code: "store_corrupt",
    });
  });

  test("have a lease that one has at a time, and that runs out with its owner", async () => {
    let now = 1_000_000;
    const parts = await partsOf({ now: () => now });
    const [one, other] = [await open(parts), await open(parts)];
    const first = await one.credentials.lease("a");
    expect(await other.credentials.lease("a")).toBeUndefined();
    expect(await other.credentials.lease("b")).toBeDefined();
    await first?.release();
    const second = await other.credentials.lease("a");
    expect(second).toBeDefined();
    now += 30_000;
    expect(await second?.held()).toBe(true); // nobody took it, and it lasts again
    expect(await one.credentials.lease("a")).toBeUndefined();
    now += 30_000;
    expect(await one.credentials.lease("a")).toBeDefined();
    expect(await second?.held()).toBe(false);
    await second?.release();
    expect(await other.credentials.lease("a")).toBeUndefined();
  });

  /** Two servers of one store that know this service. */
  async function twoServers(known: typeof tracker) {
    const { url, schema } = await partsOf();
    const cluster = { url: `${url}?search_path=${schema}`, key: KEY };
    const begin = async () => {
      const server = await createServer({
        ...{ store: temporaryFolder(), cluster, services: [known], log: QUIET },
        egress: { allow: [{ cidr: "127.0.0.0/8" }] },
      });
      onTestFinished(() => server.close());
      return server;
    };
    return [await begin(), await begin()] as const;
  }

  test("of a consent that one server has begun are got by another one, once", async () => {
    const auth = await authorizationServer();
    let beforeToken = async (): Promise<unknown> => null;
    const { url } = await serveHttp(async (request, response) => {
      await beforeToken();
      const headers = Object.entries(request.headers).filter(([name]) =>
        /^(content-type|auth)/.test(name),
      );
      const body = await text(request);
      const answer = await fetch(auth.tokenUrl, {
        method: "POST",
        headers: headers as [string, string][],
        body,
      });
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(await answer.text());
    });
    const tokenUrl = `${url}/token`;
    const [first, second] = await twoServers(
      service("tracker", oauth2(auth, { pkce: true, tokenUrl })),
    );
    const [one, other] = [first.host.services, second.host.services];
    const begin = async (at = one) => {
      const { connectId, authorizeUrl } = await at.connect({
        ...{ slug: "tracker", client: { client_id: "client", client_secret: "client-secret" } },
        ...{ receiver: "caller", redirectUri: "http://127.0.0.1:9/callback" },
      });
      const { code, state } = await consent(authorizeUrl);
      return { connectId, code, state };
    };
    const { connectId } = await begin();
    await other.cancel({ connectId });
    expect(await one.progress({ connectId })).toEqual({ state: "cancelled" });
    const gone = await begin();
    await one.cancel(gone);
    const own = await begin(other);
    expect(await other.progress(gone)).toEqual({ state: "cancelled" });
    expect(await other.progress(own)).toEqual({ state: "waiting" });

    const args = await begin();
    expect(await other.progress(own)).toEqual({ state: "superseded" });
    expect(await Promise.all([other.progress(args), other.progress(args)])).toEqual([
      { state: "waiting" },
      { state: "waiting" },
    ]);
    await expect(other.progress({ ...args, slug: "else" })).rejects.toMatchObject({
      code: "not_found",
    });
    const ends = await Promise.allSettled([one.complete(args), other.complete(args)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const each of [one, other]) {
      await expect.poll(() => each.progress(args)).toEqual({ state: "connected" });
    }

    const late = await begin();
    beforeToken = () => other.cancel(late);
    await expect(one.complete(late)).rejects.toMatchObject({ code: "state_conflict" });
    expect(await one.progress(late)).toEqual({ state: "cancelled" });
    beforeToken = async () => null;

    const early = await begin();
    await other.disconnect("tracker");
    await expect(one.complete(early)).rejects.toMatchObject({ code: "state_conflict" });
    expect(await one.progress(early)).toEqual({ state: "cancelled" });

    const last = await begin();
    await first.close();
    expect(await other.complete(last)).toMatchObject({ slug: "tracker", status: "connected" });
  });

  test("are given once to one server, and taken away at one, for all of them", async () => {
    const [first, second] = await twoServers(tracker);
    const [one, other] = [first.host.services, second.host.services];
    expect(one.storeName).toBe("shared");
    await one.setSecret({ slug: "tracker", service: "tracker", value: "t0ken" });
    const { signal } = new AbortController();
    const resolved = async () => (await other.credentials.resolve("tracker", { signal })).reveal();
    expect(await resolved()).toBe("t0ken");
    await one.disconnect("tracker");
    const code = () =>
      resolved().then(
        () => "known",
        (error: { code: string }) => error.code,
      );
    await expect.poll(code).toBe("credentials_missing");
  });
});
