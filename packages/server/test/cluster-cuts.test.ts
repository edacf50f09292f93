/**
 * What reaches one server of a cluster alone: cut wires, a full disk, a clock that is wrong, other code; with what its operator is told.
 */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeLongWith, testUnless } from "@millrace/test-support";
import { mountDiskFor, noMount } from "@millrace/test-support/disk";
import type { ServerWires } from "@millrace/test-support/executor";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { flowOf, PATIENCE, TestServers } from "./support/cluster.ts";

const WIRED = 2;
const FAST = 3; // its clock is; it begins with its own test
const FEW_NODES = 60;
const SKEW_MS = 300_000;
const TEST_MS = 240_000;

const ASK =
  'flow 1 ask\n\nnode ask: confirm {\n  prompt = "Go on?"\n  @timeout = 2s\n}\n\nnode late: transform {\n  value = 1\n}\n\nask.expired -> late\n';

let servers: TestServers;
let wires: ServerWires;
let disk: ReturnType<typeof mountDiskFor> | undefined;

describeLongWith("postgres", "restate-server")("a cluster of three servers", () => {
  beforeAll(async () => {
    servers = await TestServers.open({
      homes: 4,
      wired: WIRED,
      optionsOf: (at) => ({
        ...(at === FAST && { skewMs: SKEW_MS }),
        ...(at === WIRED && { maxNodes: FEW_NODES }),
      }),
    });
    wires = servers.ground.wires as ServerWires;
    const home = servers.homeOf(WIRED);
    mkdirSync(home);
    if (noMount() === undefined) disk = mountDiskFor(home, 1);
    if (disk !== undefined) expect(() => fill(home)).toThrow("ENOSPC");
    await Promise.all([0, 1, WIRED].map((at) => servers.begin(at)));
  }, TEST_MS);
  afterEach(() => {
    servers.ground.callOnly(undefined);
    for (const wire of [wires.postgres, wires.restate]) wire?.mend();
  });
  afterAll(async () => {
    disk?.unmount();
    await servers?.close();
  });

  testUnless(noMount())(
    "a server whose own disk is full drives runs as the others do",
    async () => {
      expect(() => fill(servers.homeOf(WIRED))).toThrow("ENOSPC");
      const [runId = ""] = await servers.drivenBy(WIRED, flowOf(5));
      await servers.endOf(runId);
    },
    TEST_MS,
  );

  test("a run whose flow does not compile at one server is driven by others, and that one says why", {
    timeout: TEST_MS,
  }, async () => {
    const large = flowOf(FEW_NODES + 1, 5);
    expect((await servers.start(WIRED, { dsl: large })).status).toBe(422);
    const told = (): string => servers.at(WIRED).told.join("");
    servers.ground.callOnly(WIRED);
    const runs: string[] = [];
    const isTold = async (): Promise<boolean> => {
      if (runs.length < 40) runs.push(await servers.started(0, large));
      return told().includes("run.refused");
    };
    await expect.poll(isTold, { ...PATIENCE, interval: 500 }).toBe(true);
    servers.ground.callOnly(undefined);
    expect(told()).toContain("the flow no longer compiles");
    for (const runId of runs) await servers.endOf(runId);
  });

  test("cut off from PostgreSQL a server says so; its runs wait, and go on when it is back", {
    timeout: TEST_MS,
  }, async () => {
    const runs = await servers.drivenBy(WIRED, flowOf(20));
    wires.postgres.cut();
    await expect.poll(() => servers.readyOf(WIRED), PATIENCE).toMatchObject({ status: "store" });
    await expectRefused(WIRED);
    wires.postgres.mend();
    await expect.poll(() => servers.readyOf(WIRED), PATIENCE).toMatchObject({ status: "ok" });
    for (const runId of runs) await servers.endOf(runId);
    const whole = { status: "ok", dispatcher: "ok" };
    await expect.poll(() => servers.readyOf(0), PATIENCE).toEqual(whole);
  });

  test("cut off from Restate a server takes starts, which others drive, and goes on with its runs", {
    timeout: TEST_MS,
  }, async () => {
    const runs = await servers.drivenBy(WIRED, flowOf(20));
    wires.restate?.cut();
    const late = await servers.started(WIRED, flowOf(2));
    await expect.poll(() => servers.statusOf(late), PATIENCE).toBe("succeeded");
    expect(await servers.driverOf(late)).not.toBe(WIRED);
    const degraded = { status: "ok", dispatcher: "degraded" };
    await expect.poll(() => servers.readyOf(WIRED), PATIENCE).toEqual(degraded);
    const told = (): string => servers.at(WIRED).told.join("");
    expect(told()).toContain("run.not_rung");
    expect(told()).toContain("no ingress of Restate took the ring");
    wires.restate?.mend();
    for (const runId of [...runs, late]) await servers.endOf(runId);
    await servers.endOf(await servers.started(WIRED, flowOf(2)));
    await expect
      .poll(() => servers.readyOf(WIRED), PATIENCE)
      .toEqual({ status: "ok", dispatcher: "ok" });
  });

  test("a clock that is five minutes fast changes no time of an event, a deadline or a schedule; others are called, and it says why", {
    timeout: TEST_MS,
  }, async () => {
    const { child, told } = await servers.begin(FAST);
    const text = flowOf(2, 0);
    expect((await servers.post(FAST, "/api/templates/import", { text })).status).toBe(201);
    const rule = { template: "slow", everyMs: 1_000, overlap: "allow" };
    expect((await servers.post(FAST, "/api/schedules", rule)).status).toBe(201);
    const asked = await servers.started(FAST, ASK);
    for (const { ts } of await servers.endOf(asked)) {
      expect(Math.abs(ts - servers.database.now())).toBeLessThan(SKEW_MS / 2);
    }
    const fired = async (): Promise<readonly number[]> => {
      const page = await servers.json(0, "/api/runs?trigger=schedule&limit=50");
      const { items } = page as { items: readonly { source: { fireTime: string } }[] };
      return items.map(({ source }) => Date.parse(source.fireTime));
    };
    await expect.poll(async () => (await fired()).length, PATIENCE).toBeGreaterThan(2);
    const times = await fired();
    expect(new Set(times).size).toBe(times.length);
    expect(Math.max(...times)).toBeLessThanOrEqual(servers.database.now());
    const { items } = (await servers.json(0, "/api/schedules")) as { items: { id: string }[] };
    for (const { id } of items) {
      const url = `${servers.at(0).url}/api/schedules/${id}`;
      expect((await fetch(url, { method: "DELETE", headers: { "if-match": "*" } })).ok).toBe(true);
    }
    expect(told.join("")).toContain("the clock of this server is 300 s ahead of that of the store");
    // it may be called at any time from now on, and then others drive
    const runs = await servers.drivenBy(0, flowOf(5));
    for (const runId of runs) await servers.endOf(runId);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    servers.forget(FAST);
  });
});

/** A server without its database takes nothing, says when to come back, and names what is missing. */
async function expectRefused(at: number): Promise<void> {
  const refused = await servers.start(at, { dsl: flowOf(2) });
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    code: "store_unavailable",
    title: "The store is not available",
  });
}

/** Takes all the room of a disk. */
function fill(folder: string): void {
  writeFileSync(join(folder, `${Date.now()}`), new Uint8Array(2 ** 21));
}
