/** Servers over one store in PostgreSQL. */

import { createServer, type MillraceServer } from "@millrace/server";
import { openPostgresDatabase } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";

const KEY = new Uint8Array(32).fill(3);
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const ASK =
  'flow 1 ask\n\nnode ask: confirm {\n  prompt = "Go on?"\n}\n\nnode after: transform {\n  value = 2\n}\n\nask.approved -> after\n\noutput two = after.value\n';

const PATIENCE = { timeout: 60_000, interval: 20 };

let schemas = 0;

/** An address of a store that no other test has. */
async function newUrl(): Promise<string> {
  const { url } = await sharedPostgres();
  schemas += 1;
  return `${url}?search_path=cluster_${process.pid}_${schemas}`;
}

const schemaOf = (url: string): string => new URL(url).searchParams.get("search_path") ?? "";

async function open(
  url: string,
  { key = KEY, alone = false, tokens = [] as readonly string[] } = {},
): Promise<MillraceServer> {
  const server = await createServer({
    tokens,
    store: temporaryFolder(),
    cluster: { url, key, alone },
    credentials: { store: "memory" },
    log: QUIET,
  });
  onTestFinished(() => server.close());
  return server;
}

async function call(server: MillraceServer, method: string, path: string, body?: unknown) {
  const answer = await server.request(path, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describeWith("postgres")("servers on one store in PostgreSQL", () => {
  test("start, read, answer and list the same runs", async () => {
    const url = await newUrl();
    const [one, other] = [await open(url), await open(url)];
    expect((await call(one, "GET", "/api/meta")).body).toMatchObject({
      features: { executor: "postgres" },
    });
    const started = await call(one, "POST", "/api/runs", { dsl: ASK });
    expect(started.status).toBe(202);
    const id = String(started.body["runId"]);
    const path = `/api/runs/${id}`;
    await expect.poll(async () => (await call(other, "GET", path)).body["status"]).toBe("paused");
    const answered = await call(other, "POST", `${path}/confirmations/k1`, { decision: "approve" });
    expect(answered).toMatchObject({ status: 200, body: { status: "approved" } });
    const lines = async (server: MillraceServer) =>
      (
        await server.request(`${path}/events`, { headers: { accept: "application/x-ndjson" } })
      ).text();
    expect(await lines(other)).toBe(await lines(one));
    expect(await lines(one)).toContain('"outputs":{"two":2}');
    const late = await call(one, "POST", `${path}/cancel`, {});
    expect(late).toMatchObject({ status: 409, body: { code: "state_conflict" } });
  });

  test("a server that hears no notices says that it is degraded, and takes starts all the same", async () => {
    const url = await newUrl();
    const role = `limited_${process.pid}`;
    const admin = await openPostgresDatabase({ url, key: KEY });
    onTestFinished(() => admin.close());
    const say = (sql: string) => admin.write([{ sql, rows: [[]] }]);
    await say(`CREATE ROLE ${role} LOGIN`);
    await say(`GRANT ALL ON DATABASE postgres TO ${role}`);
    const schema = `${schemaOf(url)}_of_role`;
    const server = await open(url.replace("postgres@", `${role}@`).replace(schemaOf(url), schema));
    const ready = async () => (await server.request("/api/ready")).json();
    expect(await ready()).toEqual({ status: "ok", dispatcher: "ok" });
    expect((await call(server, "POST", "/api/runs", { dsl: ASK })).status).toBe(202); // there is a connection for more
    await say(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
    await admin.get(
      `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN ${schema}.server s ON s.lock = l.objid::bigint WHERE l.locktype = 'advisory'`,
    );
    await expect.poll(ready, PATIENCE).toEqual({ status: "ok", dispatcher: "degraded" });
    const { status, body } = await call(server, "POST", "/api/runs", { dsl: ASK });
    expect(status).toBe(202);
    await say(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
    await expect.poll(ready, PATIENCE).toEqual({ status: "ok", dispatcher: "ok" });
    const path = `/api/runs/${body["runId"]}`;
    await expect
      .poll(async () => (await call(server, "GET", path)).body["status"], PATIENCE)
      .toBe("paused");
  });

  test("a server whose clock is wrong goes by that of the database", async () => {
    const server = await open(await newUrl());
    const real = Date.now;
    onTestFinished(() => {
      Date.now = real;
    });
    Date.now = () => real() + 3_600_000;
    const isRight = (ms: number): boolean => Math.abs(ms - real()) < 60_000;
    await expect.poll(() => isRight(server.host.now())).toBe(true);
    const { body } = await call(server, "POST", "/api/runs", { dsl: ASK });
    const events = server.host.executor.attach(String(body["runId"]))[Symbol.asyncIterator]();
    const [first] = (await events.next()).value ?? [];
    await events.return?.();
    const { ts } = JSON.parse(new TextDecoder().decode(first?.line));
    expect(isRight(ts)).toBe(true);
  });

  test("a token that is revoked at one server is taken by none, and its streams end", async () => {
    const url = await newUrl();
    const [root, ci] = ["root-".repeat(4), "ci-".repeat(6)];
    const tokens = [`root:admin:${root}`, `ci:run:${ci}`];
    const [one, other] = [await open(url, { tokens }), await open(url, { tokens })];
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const statusOf = async (token: string): Promise<number> =>
      (await other.request("/api/runs", { headers: bearer(token) })).status;
    expect(await statusOf(ci)).toBe(200);
    const stream = await other.request("/api/events", { headers: bearer(ci) });
    const patched = (server: typeof one, patch: object) =>
      server.request("/api/settings", {
        method: "PATCH",
        headers: { ...bearer(root), "if-match": "*", "content-type": "application/json" },
        body: JSON.stringify(patch),
      });
    const refused = await patched(one, { revokedTokens: ["ci", "root"] });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ errors: [{ pointer: "/revokedTokens" }] });
    expect((await patched(one, { revokedTokens: ["ci"] })).status).toBe(200);
    expect((await patched(other, { run: { concurrency: 3 } })).status).toBe(200); // takes nothing of that back
    await stream.text();
    expect(await statusOf(ci)).toBe(401);
    expect(await statusOf(root)).toBe(200);
  });

  test("a server with another key or another executor does not start, and names what the store has", async () => {
    const url = await newUrl();
    const first = await open(url);
    await expect(open(url, { key: new Uint8Array(32).fill(4) })).rejects.toMatchObject({
      code: "store_wrong_key",
      message: expect.stringMatching(/made with the key [0-9a-f]{16}/),
    });
    await expect(open(url, { alone: true })).rejects.toMatchObject({
      code: "store_locked",
      message: expect.stringContaining('have the executor "postgres", and this one has "local"'),
    });
    await first.close();
    await open(url, { alone: true }); // all of them were stopped
  });
});

test.each([
  [{ url: "mysql://x", key: KEY }, "needs a url that begins with postgres://"],
  [{ url: "postgres://x/y", key: KEY.subarray(1) }, "needs a key of 32 bytes"],
  [{ url: "postgres://x/y", key: KEY, more: 1 }, 'has url, key, restate and alone, and no "more"'],
  [{ url: "postgres://x/y", key: KEY, alone: 1 }, "has an alone that is neither true nor false"],
  [
    { url: "postgres://x/y", key: KEY, alone: true, restate: {} },
    "has restate, or alone, and not both",
  ],
])("a cluster that is none is refused by name: %#", async (cluster, says) => {
  const wrong = createServer({ store: temporaryFolder(), cluster: cluster as never, log: QUIET });
  await expect(wrong).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining(says),
  });
});
