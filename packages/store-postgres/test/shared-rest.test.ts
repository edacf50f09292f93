/** Servers on one store: a run that waits is at work at none of them, and goes on at any. */
import { checkLog, type FlowGraph, parseEventStrict } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { TestCluster } from "@millrace/test-support/executor";
import { graphWith } from "@millrace/test-support/graph";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { createSharedExecutor } from "../../server/src/executor/index.ts";
import { KEY, newClient, newSchema } from "./open.ts";

const HOUR_MS = 3_600_000;

const FLOW: FlowGraph = graphWith({
  id: "sleep",
  nodes: [{ id: "sleep", type: "delay", fields: { for: HOUR_MS } }],
});

/** Two servers whose clocks are moved together. */
async function twoServers() {
  const schema = newSchema();
  const { url } = await sharedPostgres();
  let turn = 0;
  const cluster = new TestCluster((count) => turn++ % Math.max(1, count));
  const clock = { aheadMs: 0 };
  const now = (): number => Date.now() + clock.aheadMs;
  const open = async () => {
    const store = await openPostgresStore({ url, schema, key: KEY, connections: 4, now });
    const engine = createEngine({ host: { ...createNodeHost(), now }, journal: store.journal });
    const dispatcher = cluster.join();
    const executor = createSharedExecutor({ engine, store, dispatcher, kind: "postgres" });
    onTestFinished(() => executor.close().then(() => store.close()));
    await executor.recover();
    return { executor, dispatcher };
  };
  const client = await newClient(url);
  return {
    clock,
    servers: [await open(), await open()] as const,
    /** Who has the run, and when it is to be driven. */
    async row() {
      const { rows } = await client.query(
        `SELECT status, lease_until = 0 AS is_left, bell_at FROM ${schema}.run`,
      );
      return rows[0];
    },
  };
}

describeWith("postgres")("a run that waits", () => {
  test("for an hour is left meanwhile, and its log does not say so", async () => {
    const { servers, clock, row } = await twoServers();
    const [one, other] = servers;
    const { runId } = await one.executor.start({ graph: FLOW, inputs: {}, trigger: "embed" });
    await expect.poll(row).toMatchObject({ status: "running", is_left: true });
    await expect
      .poll(async () => Number((await row()).bell_at))
      .toBeGreaterThan(Date.now() + HOUR_MS / 2);
    clock.aheadMs = HOUR_MS;
    await other.dispatcher.ring(runId);
    const log = [];
    for await (const page of other.executor.attach(runId)) {
      log.push(...page.map(({ line }) => parseEventStrict(new TextDecoder().decode(line))));
    }
    expect(checkLog(log, { graph: FLOW })).toEqual([]);
    expect(log.map(({ kind }) => kind)).toEqual([
      ...["run.started", "node.started", "node.waiting", "node.resumed", "node.succeeded"],
      "summary",
    ]);
  });

  test("for its operator is left, and obeys at another server", async () => {
    const { servers, row } = await twoServers();
    const [one, other] = servers;
    const { runId } = await one.executor.start({ graph: FLOW, inputs: {}, trigger: "embed" });
    await expect.poll(row).toMatchObject({ is_left: true });
    const pause = { kind: "pause", by: "anna" } as const;
    expect(await other.executor.signal(runId, pause)).toEqual({ ok: true });
    await expect.poll(row).toMatchObject({ status: "paused", is_left: true, bell_at: null });
    expect(await one.executor.signal(runId, { ...pause, kind: "resume" })).toEqual({ ok: true });
    expect((await other.executor.cancel(runId, { reason: "user" })).status).toMatch(/^cancel/);
  });
});
