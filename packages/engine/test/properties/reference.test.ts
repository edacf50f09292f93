import type { FlowGraph } from "@millrace/contracts";
import { createRandom } from "@millrace/engine/testing";
import {
  compiled,
  differences,
  faultsOf,
  forSeeds,
  ndjson,
  type Ran,
  randomFlow,
  referenceRun,
  runPlan,
  TIMEOUT_MS,
} from "@millrace/test-support/flows";
import { expect, test } from "vitest";

const FILE = "reference";

test(
  "random flows end as the reference says, with legal logs and nothing left behind",
  async () => {
    await forSeeds(1_200, FILE, async (_seed, graph) => {
      const ran = await runPlan(await compiled(graph));
      return [...differences(ran, graph), ...faultsOf(ran)];
    });
  },
  TIMEOUT_MS,
);

test(
  "the fast lane and the slow lane have the same bytes",
  async () => {
    await forSeeds(500, FILE, async (seed, graph) => {
      const plan = await compiled(graph);
      const logs = [true, false].map(async (fastLane) => {
        const engine = { fastLane, concurrency: { run: 1 + (seed % 8) } };
        return ndjson((await runPlan(plan, { random: seed, engine })).events);
      });
      const [fast, slow] = await Promise.all(logs);
      return fast === slow ? [] : ["the logs differ"];
    });
  },
  TIMEOUT_MS,
);

test(
  "how nodes are ordered in the graph and how long their bodies take changes nothing but the order",
  async () => {
    await forSeeds(200, FILE, async (seed, graph) => {
      const random = createRandom(seed);
      const other = {
        ...graph,
        nodes: [...graph.nodes].reverse().map((node) => slower(node, random)),
      };
      const ran = await runPlan(await compiled(other));
      return [...differences(ran, graph), ...faultsOf(ran)];
    });
  },
  TIMEOUT_MS,
);

/** A body that takes another time; where a timeout is set, time has a meaning and stays. */
function slower(
  node: FlowGraph["nodes"][number],
  random: () => number,
): FlowGraph["nodes"][number] {
  if (node.type !== "test.scripted" || node.policy?.timeoutMs !== undefined) return node;
  return { ...node, fields: { ...node.fields, delayMs: Math.floor(random() * 40) } };
}

test(
  "few slots change nothing but the order, and nothing waits for ever",
  async () => {
    await forSeeds(200, FILE, async (seed, graph) => {
      const engine = { concurrency: { run: 1 + (seed % 3), types: { "test.scripted": 1 } } };
      const ran = await runPlan(await compiled(graph), { engine });
      return [
        ...differences(ran, graph),
        ...faultsOf(ran),
        ...overSlots(ran, engine.concurrency.run),
      ];
    });
  },
  TIMEOUT_MS,
);

/** Nodes that hold a slot and were open at once, beyond `most`. Bodies that stay after their timeout hold none. */
function overSlots({ events }: Ran, most: number): string[] {
  const open = new Set<string>();
  for (const event of events) {
    if (!("node" in event) || event.node === undefined) continue;
    if (event.kind === "node.started" && event.type !== "map" && event.type !== "loop") {
      open.add(event.node);
      if (open.size > most)
        return [`${open.size} nodes run at seq ${event.seq}, at most ${most} may`];
    }
    if (/^node\.(succeeded|failed|cancelled|retrying)$/.test(event.kind)) open.delete(event.node);
  }
  return [];
}

test(
  "a failure that stops the run fails it whenever it would have failed in the end",
  async () => {
    await forSeeds(300, FILE, async (_seed, graph) => {
      const ran = await runPlan(await compiled(graph), { run: { onFailure: "stop" } });
      const { status } = referenceRun(graph);
      const wrong =
        ran.summary.status === status ? [] : [`${ran.summary.status} and not ${status}`];
      return [...wrong, ...faultsOf(ran)];
    });
  },
  TIMEOUT_MS,
);

test(
  "two runs with the same clock and the same random numbers have the same bytes",
  async () => {
    await forSeeds(150, FILE, async (seed, graph) => {
      const plan = await compiled(graph);
      const first = ndjson((await runPlan(plan, { random: seed })).events);
      const second = ndjson((await runPlan(plan, { random: seed })).events);
      return first === second ? [] : ["the logs differ"];
    });
  },
  TIMEOUT_MS,
);

test("a plan that has run is as it was: the next run of it is the same", async () => {
  await forSeeds(50, FILE, async (_seed, graph) => {
    const plan = await compiled(graph);
    const runs = await Promise.all([runPlan(plan), runPlan(plan), runPlan(await compiled(graph))]);
    const logs = new Set(runs.map(({ events }) => ndjson(events)));
    return logs.size === 1 ? [] : ["the logs differ"];
  });
});

test("random flows cover every end of a node, and many of their nodes run", () => {
  const seen = new Map<string, number>();
  for (let seed = 0; seed < 300; seed += 1) {
    for (const { state } of referenceRun(randomFlow(seed)).nodes.values()) {
      seen.set(state, (seen.get(state) ?? 0) + 1);
    }
  }
  expect([...seen.keys()].sort()).toEqual([
    "failed:default",
    "failed:none",
    "failed:port",
    "skipped:dead",
    "skipped:when",
    "succeeded",
  ]);
  const all = [...seen.values()].reduce((sum, count) => sum + count);
  expect((seen.get("succeeded") ?? 0) / all).toBeGreaterThan(0.4);
});
