/** A server takes over no more runs of a dead one than it may drive. */
import { defineNodeType, type FlowGraph, jsonSchema } from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost, nodePack } from "@millrace/engine/node";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { TestCluster } from "@millrace/test-support/executor";
import { graphWith } from "@millrace/test-support/graph";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { createSharedExecutor } from "../../server/src/executor/index.ts";
import { KEY, newClient, newSchema } from "./open.ts";

const RUNS = 2;
const work = { now: 0, most: 0 };

const slow = defineNodeType({
  type: "test.slow",
  title: "Slow",
  summary: "Takes a while.",
  fields: jsonSchema<Record<string, never>>({ type: "object" }),
  output: jsonSchema<{ done: boolean }>({ type: "object" }),
  effect: "read",
  async run() {
    work.now += 1;
    work.most = Math.max(work.most, work.now);
    await new Promise((done) => setTimeout(done, 200));
    work.now -= 1;
    return { done: true };
  },
});

const FLOW: FlowGraph = graphWith({
  id: "slow",
  nodes: [{ id: "slow", type: "test.slow", fields: {} }],
});

describeWith("postgres")("a sweep", () => {
  test("takes as many runs of a dead server as there is room for, and all of them in the end", async () => {
    const { url } = await sharedPostgres();
    const schema = newSchema();
    const open = () => openPostgresStore({ url, schema, key: KEY, connections: 4 });
    const registry = createRegistry([nodePack(), slow]);
    const compiled = await compileFlow(FLOW, { registry });
    if (!compiled.ok) expect.fail("the flow does not compile");
    const dead = await open();
    const engine = createEngine({ host: createNodeHost(), journal: dead.journal });
    const ids = Array.from({ length: RUNS }, (_, index) => `r${index}`);
    for (const runId of ids) {
      await dead.journal.create(engine.header(compiled.plan, {}, { runId, trigger: "embed" }));
    }
    await dead.close();
    const client = await newClient(url);
    await client.query(`UPDATE ${schema}.run SET bell_at = 1`); // long ago
    const store = await open();
    const executor = createSharedExecutor({
      ...{ store, registry, kind: "postgres", maxLiveRuns: 1 },
      engine: createEngine({ host: createNodeHost(), journal: store.journal }),
      dispatcher: new TestCluster(() => 0).join(),
    });
    onTestFinished(() => executor.close().then(() => store.close()));
    await executor.recover();
    for (const runId of ids) {
      const status = async () => (await executor.get(runId))?.status;
      await expect.poll(status).toBe("succeeded");
    }
    expect(work.most).toBe(1);
  });
});
