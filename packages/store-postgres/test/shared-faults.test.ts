/** Servers on one store that are not alike: what one cannot drive another one does. */
import {
  type AnyEvent,
  checkLog,
  defineNodeType,
  type Executor,
  type FlowGraph,
  jsonSchema,
  parseEventStrict,
} from "@millrace/contracts";
import { createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost, nodePack } from "@millrace/engine/node";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { TestCluster } from "@millrace/test-support/executor";
import { graphWith } from "@millrace/test-support/graph";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { createSharedExecutor } from "../../server/src/executor/index.ts";
import { KEY, newSchema } from "./open.ts";

const own = defineNodeType({
  type: "test.own",
  title: "Own",
  summary: "A node of some servers.",
  fields: jsonSchema<Record<string, never>>({ type: "object" }),
  output: jsonSchema<{ done: boolean }>({ type: "object" }),
  effect: "read",
  run: async () => ({ done: true }),
});

const FLOW: FlowGraph = graphWith({
  id: "own",
  nodes: [
    { id: "ask", type: "confirm", fields: { prompt: "Go on?" } },
    { id: "own", type: "test.own", fields: {} },
  ],
  edges: [{ from: "ask", port: "approved", to: "own" }],
});

interface Cluster {
  readonly servers: TestCluster;
  readonly schema: string;
}

/** Each ring goes to the next server. */
function newCluster(): Cluster {
  let turn = 0;
  const next = (count: number): number => {
    turn += 1;
    return count === 0 ? 0 : turn % count;
  };
  return { servers: new TestCluster(next), schema: newSchema() };
}

/** `refuses`: the kind of the event at which its journal fails once. */
async function join(
  { servers, schema }: Cluster,
  { knows, refuses }: { readonly knows: boolean; readonly refuses?: AnyEvent["kind"] },
) {
  const { url } = await sharedPostgres();
  const store = await openPostgresStore({ url, schema, key: KEY, connections: 4 });
  const registry = createRegistry([nodePack(), ...(knows ? [own] : [])]);
  let refusals = 0;
  const append: typeof store.journal.append = async (runId, seq, events, options) => {
    if (refusals === 0 && events.some(({ kind }) => kind === refuses)) {
      refusals += 1;
      throw new Error("the disk is gone");
    }
    await store.journal.append(runId, seq, events, options);
  };
  const engine = createEngine({ host: createNodeHost(), journal: { ...store.journal, append } });
  const dispatcher = servers.join();
  const executor = createSharedExecutor({ engine, store, dispatcher, kind: "postgres", registry });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= executor.close().then(() => store.close());
    return closed;
  };
  onTestFinished(close);
  await executor.recover();
  return { executor, close };
}

/** Reads until there is an event of this kind. */
async function seen(executor: Executor, runId: string, kind: AnyEvent["kind"]): Promise<void> {
  for await (const page of executor.attach(runId)) {
    if (page.some((event) => event.kind === kind)) return;
  }
  expect.fail(`no ${kind} in the log of ${runId}`);
}

/** The whole log, which is legal. */
async function logOf(executor: Executor, runId: string): Promise<AnyEvent[]> {
  const log: AnyEvent[] = [];
  for await (const page of executor.attach(runId)) {
    log.push(...page.map(({ line }) => parseEventStrict(new TextDecoder().decode(line))));
  }
  expect(checkLog(log, { graph: FLOW })).toEqual([]);
  return log;
}

const YES = { kind: "confirm", id: "k1", decision: "approve", by: "anna" } as const;

describeWith("postgres")("servers with other code", () => {
  test("a run that some servers cannot take up is driven by one that can", async () => {
    const cluster = newCluster();
    const knowing = await join(cluster, { knows: true });
    const other = await join(cluster, { knows: false });
    await join(cluster, { knows: false });
    const runs = await Promise.all(
      Array.from({ length: 6 }, () =>
        knowing.executor.start({ graph: FLOW, inputs: {}, trigger: "embed" }),
      ),
    );
    for (const { runId } of runs) {
      await seen(other.executor, runId, "run.paused");
      expect(await other.executor.signal(runId, YES)).toEqual({ ok: true });
      await logOf(other.executor, runId);
      expect((await other.executor.get(runId))?.status).toBe("succeeded");
    }
  });

  test("a run that no server can take up ends and says so, and who answered it is told", async () => {
    const cluster = newCluster();
    const knowing = await join(cluster, { knows: true });
    const { runId } = await knowing.executor.start({ graph: FLOW, inputs: {}, trigger: "embed" });
    await seen(knowing.executor, runId, "run.paused");
    await knowing.close();
    const { executor } = await join(cluster, { knows: false });
    await join(cluster, { knows: false });
    const answer = await executor.signal(runId, YES);
    expect(answer).toMatchObject({ ok: false });
    const log = await logOf(executor, runId);
    expect(await executor.get(runId)).toMatchObject({ status: "failed" });
    const message = "the flow no longer compiles: unknown node type test.own";
    expect(log.at(-1)).toMatchObject({ error: { code: "resume_impossible", message } });
  });

  test("a run whose journal has failed is given back: it goes on long before its lease is over", {
    timeout: 25_000,
  }, async () => {
    const cluster = newCluster();
    const { executor } = await join(cluster, { knows: true, refuses: "run.started" });
    const { runId } = await executor.start({ graph: FLOW, inputs: {}, trigger: "embed" });
    await seen(executor, runId, "run.paused");
    expect(await executor.signal(runId, YES)).toEqual({ ok: true });
    await logOf(executor, runId);
  });
});
