/** Doctor looks at what servers of a cluster share: a store in PostgreSQL, and Restate. */
import { createRestateDispatcher } from "@millrace/restate";
import { openPostgresDatabase, storeKeyId } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { freePort } from "@millrace/test-support/ports";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { type RestateCluster, startRestate } from "@millrace/test-support/restate";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { jsonLines, lastSummary } from "./cli.ts";
import { inside } from "./inside.ts";

const KEY = Buffer.alloc(32, 6);
const CLUSTER_CHECKS = ["postgres", "store key", "store clock", "restate"];
const PATIENCE = { timeout: 30_000, interval: 20 };

interface Line {
  readonly check: string;
  readonly status: string;
  readonly says: string;
  readonly fix?: string;
}

/** What doctor says of a cluster with this configuration. */
async function look(
  config: object,
  { url = "", key = KEY }: { readonly url?: string; readonly key?: Uint8Array } = {},
): Promise<{ readonly code: number; readonly lines: readonly Line[] }> {
  const env = { STORE_URL: url, STORE_KEY: Buffer.from(key).toString("base64") };
  const { stdout, code } = await inside(["doctor", "--json"], {
    files: { "millrace.json": JSON.stringify(config) },
    env: { ...env, MILLRACE_TRUST_PROJECT: "1", MILLRACE_CREDENTIALS_STORE: "memory" },
  });
  expect(stdout).not.toContain(env.STORE_KEY);
  expect(stdout).not.toContain("hidden");
  const lines = jsonLines<Line>(stdout).filter(({ check }) => CLUSTER_CHECKS.includes(check));
  for (const { status, fix } of lines) expect(status === "ok" || fix !== undefined).toBe(true);
  expect(lastSummary(stdout).exitCode).toBe(code);
  return { code, lines };
}

const STORE = { store: { url: "env:STORE_URL", key: "env:STORE_KEY" } };
const said = (lines: readonly Line[], status: string): readonly string[] =>
  lines.filter((line) => line.status === status).map(({ check, says }) => `${check}: ${says}`);

test("a store that cannot be reached, and one that is not set as a whole, are told with what to do", async () => {
  const away = await look(STORE, { url: "postgres://me:hidden@127.0.0.1:9/runs" });
  expect(away.code).toBe(1);
  expect(said(away.lines, "fail")).toEqual([
    "postgres: 127.0.0.1:9/runs cannot be reached: ECONNREFUSED",
  ]);
  const half = await look({ store: { url: "env:STORE_URL" } }, { url: "postgres://me:hidden@h/x" });
  expect(said(half.lines, "fail")).toEqual([expect.stringContaining("store.key is needed")]);
});

test("no keyring is missed where the store that servers share has the credentials", async () => {
  const { stdout } = await inside(["doctor"], {
    files: { "millrace.json": JSON.stringify({ store: { url: "env:STORE_URL" } }) },
    env: { STORE_URL: "postgres://me:hidden@h/x", MILLRACE_TRUST_PROJECT: "1" },
  });
  expect(stdout).toContain("✓ credentials  the store that servers share has them\n");
  expect(stdout).not.toContain("credentials.store");
});

describeWith("postgres")("doctor looks at PostgreSQL", () => {
  test("it says what is there, and finds another key, newer tables, and a clock that is wrong", async () => {
    const url = `${(await sharedPostgres()).url}?search_path=doctor_${process.pid}`;
    const config = { ...STORE, serve: { executor: "postgres" } };
    const empty = await look(config, { url });
    expect(empty.code).toBe(0);
    expect(said(empty.lines, "ok")).toEqual([
      expect.stringMatching(/^postgres: 127\.0\.0\.1:\d+\/postgres answers, PostgreSQL \d+/),
      expect.stringMatching(/^postgres: the schema doctor_\d+ of .* has no tables yet/),
      `store key: the key ${storeKeyId(KEY)} becomes that of the store`,
      expect.stringMatching(/^store clock: .* agrees/),
    ]);
    for (const [wrong, says] of [
      [url.replace("/postgres?", "/nowhere?"), "it has no database of this name (3D000)"],
      [url.replace(/\/\/[^:@/]+/, "//nobody"), "it does not let this user in (28000)"],
    ] as const) {
      const refused = await look(config, { url: wrong });
      expect(said(refused.lines, "fail")).toEqual([expect.stringContaining(says)]);
    }
    const database = await openPostgresDatabase({ url, key: KEY });
    onTestFinished(() => database.close());
    const role = `standby_${process.pid}`;
    await database.write([
      { sql: `CREATE ROLE ${role} LOGIN`, rows: [[]] },
      { sql: `ALTER ROLE ${role} SET default_transaction_read_only = on`, rows: [[]] },
      { sql: `GRANT pg_read_all_data TO ${role}`, rows: [[]] },
    ]);
    const standby = await look(config, { url: url.replace(/\/\/[^:@/]+/, `//${role}`) });
    expect(said(standby.lines, "fail")).toEqual([
      expect.stringMatching(
        /^postgres: .* takes no writes: it is a standby, or was set read-only$/,
      ),
    ]);
    const good = await look(config, { url });
    expect(said(good.lines, "ok").join("\n")).toMatch(
      /has version \d+ of the tables\nstore key: store\.key is the key/,
    );
    await database.write([{ sql: "INSERT INTO migration(version, at) VALUES(99, 0)", rows: [[]] }]);
    const other = Buffer.alloc(32, 8);
    const { now } = Date;
    vi.spyOn(Date, "now").mockImplementation(() => now() - 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
    const bad = await look(config, { url, key: other });
    expect(bad.code).toBe(1);
    expect(said(bad.lines, "fail")).toEqual([
      expect.stringMatching(/^postgres: .* has version 99 of the tables, this program knows \d+$/),
      expect.stringMatching(
        new RegExp(
          `^store key: .* was made with the key ${storeKeyId(KEY)}, and store\\.key is the key ${storeKeyId(other)}$`,
        ),
      ),
    ]);
    expect(said(bad.lines, "warn")).toEqual([
      expect.stringMatching(/^store clock: the clock of .* is (?:59|60|61) s ahead$/),
    ]);
  });
});

describeWith("postgres", "restate-server")("doctor looks at Restate", () => {
  let cluster: RestateCluster;
  beforeAll(async () => {
    cluster = await startRestate({ nodes: 1 });
  });
  afterAll(() => cluster?.stop());

  test("it says which nodes answer, whether the servers are known, and who may call them", async () => {
    const url = `${(await sharedPostgres()).url}?search_path=doctor_restate_${process.pid}`;
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const listen = `127.0.0.1:${await freePort()}`;
    const restate = { ingress: cluster.ingress, admin: cluster.admin, listen };
    const configOf = (more: object) => ({
      ...{ ...STORE, serve: { executor: "restate" } },
      restate: { ...restate, ...more },
    });
    const of = (lines: readonly Line[]) => lines.filter(({ check }) => check === "restate");
    const early = of(
      (await look(configOf({ ingress: [...cluster.ingress, nowhere] }), { url })).lines,
    );
    expect(said(early, "fail")).toEqual([
      `restate: the ingress ${nowhere} cannot be used: ECONNREFUSED`,
    ]);
    expect(said(early, "warn")).toEqual([
      `restate: Restate does not know the servers at http://${listen}: it calls nobody there`,
    ]);
    const open = of((await look(configOf({ listen: "0.0.0.0:9080" }), { url })).lines);
    expect(said(open, "fail")).toEqual([
      expect.stringMatching(
        /^restate: restate\.identityKeys is needed, because "listen" \(0\.0\.0\.0:9080\)/,
      ),
    ]);
    const dispatcher = createRestateDispatcher(restate);
    onTestFinished(() => dispatcher.close());
    await dispatcher.serve(async () => "done");
    await expect.poll(() => dispatcher.condition, PATIENCE).toBe("ok");
    const { code, lines } = await look(configOf({ identityKeys: [cluster.identityKey] }), { url });
    expect(code).toBe(0);
    expect(said(of(lines), "ok")).toEqual([
      `restate: the ingress ${cluster.ingress[0]} answers`,
      expect.stringMatching(/^restate: the admin .* answers, Restate 1\.\d+/),
      `restate: Restate knows the servers at http://${listen}`,
      "restate: only a cluster with one of restate.identityKeys may call a server",
    ]);
  });
});
