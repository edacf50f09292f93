// The process that is killed: does the work of its last argument (JSON, `ChaosWork` of @millrace/store/testing) over the
// store in its folder, writes a line when it is at work and one for each effect, and exits 0 when all runs have ended.
// Usage: node chaos-child.js '<work>'
import { createHash } from "node:crypto";
import { appendFileSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import { createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor } from "@millrace/server";
import { openStore } from "@millrace/store";

const work = JSON.parse(process.argv.at(-1));
const append = (path, line) => appendFileSync(path, `${line}\n`, { flag: "a" });

const effect = defineNodeType({
  type: "test.effect",
  title: "Effect",
  summary: "Appends a line and takes a while.",
  fields: jsonSchema({ type: "object", properties: { ms: { type: "integer" } } }),
  output: jsonSchema({ type: "object" }),
  effect: "write",
  async run({ ms }, ctx) {
    await sleep(ms / 2);
    append(work.effects, `${ctx.runId} ${ctx.node}`);
    writeSync(1, ".\n");
    await sleep(ms / 2);
    return {};
  },
});

const store = await openStore({ dir: work.dir });
const registry = createRegistry([effect]);
const engine = createEngine({ host: createNodeHost(), journal: store.journal });
const executor = createLocalExecutor({ engine, store, registry, maxQueuedRuns: 10_000 });
await executor.recover();
if (store.schedules.get("chaos") === null) {
  await store.schedules.put({ id: "chaos", body: {}, enabled: true, nextAt: 1 });
}
writeSync(1, "ready\n");

function graphOf(runId, steps, asks) {
  const span = work.maxStepMs - work.minStepMs + 1;
  const nodes = Array.from({ length: steps }, (_, n) => ({
    id: `s${n}`,
    type: "test.effect",
    fields: { ms: work.minStepMs + ((n * 31 + Number.parseInt(runId.slice(1), 10) * 17) % span) },
  }));
  if (asks)
    nodes.splice(steps >> 1, 0, { id: "ask", type: "confirm", fields: { prompt: "Go on?" } });
  const edges = nodes.slice(1).map(({ id }, at) => ({
    from: nodes[at].id,
    port: nodes[at].id === "ask" ? "approved" : "out",
    to: id,
  }));
  const none = { inputs: [], outputs: [], connections: [], schedules: [], layout: {} };
  return { version: 1, id: "chaos", nodes, edges, ...none };
}

/** Starts a run that is not there yet. A refusal says that it, or its fire, is. */
async function start(runId, steps, asks, rows) {
  if (store.runs.summary(runId) !== null) return;
  const spec = { runId, graph: graphOf(runId, steps, asks), inputs: {}, trigger: "embed" };
  await executor.start(spec, rows).catch((error) => {
    if (!["run_exists", "already_fired"].includes(error.code)) throw error;
  });
}

/** Reads a run to its end, notes what it saw, and answers its question with two voices. */
async function follow(runId) {
  for await (const page of executor.attach(runId)) {
    for (const { seq, kind, line } of page) {
      append(work.seen, `${runId} ${seq} ${createHash("sha256").update(line).digest("hex")}`);
      if (kind === "confirm.requested") void answer(runId, JSON.parse(Buffer.from(line)).id);
    }
  }
}

async function answer(runId, id) {
  await sleep(Math.random() * work.maxStepMs * 2); // a kill may come while it waits
  const signal = { kind: "confirm", id, decision: "approve", by: "anna" };
  const replies = await Promise.all([
    executor.signal(runId, signal),
    executor.signal(runId, signal),
  ]);
  for (const { ok } of replies) if (ok) append(work.answers, `${runId} ${id}`);
}

async function one(n) {
  const asks = n < work.questions;
  const runId = `${asks ? "q" : "c"}${n}`;
  await start(runId, work.steps, asks);
  await follow(runId);
}

async function fire(fireTime) {
  const runId = `f${fireTime}`;
  const nextAt = fireTime < work.fires ? fireTime + 1 : null;
  const row = { scheduleId: "chaos", fireTime, outcome: "started", nextAt };
  await start(runId, 1, false, { fire: row });
  await start(`${runId}-again`, 1, false, { fire: row }); // whoever fires it a second time gets nothing
}

async function fires() {
  for (let time = store.schedules.get("chaos").nextAt; time !== null; ) {
    await fire(time);
    await sleep(work.maxStepMs);
    time = store.schedules.get("chaos").nextAt;
  }
  const runs = Array.from({ length: work.fires }, (_, n) => follow(`f${n + 1}`));
  await Promise.all(runs);
}

await Promise.all([fires(), ...Array.from({ length: work.runs }, (_, n) => one(n))]);
await executor.close({ graceMs: 1_000 });
await store.close();
