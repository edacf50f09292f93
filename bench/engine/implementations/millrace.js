// Ours: the public engine with a custom node type, no journal, one cursor read to the end.
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { body } from "../workloads.js";

const states = new Map();

const noop = defineNodeType({
  type: "bench.noop",
  title: "No-op",
  summary: "Writes one number.",
  effect: "pure",
  fields: jsonSchema({ type: "object", properties: { i: { type: "integer" } }, required: ["i"] }),
  output: jsonSchema({ type: "object" }),
  run: ({ i }, ctx) => body(states.get(ctx.runId), i),
});

export async function prepare({ name, deps }) {
  const graph = {
    version: 1,
    id: name,
    inputs: [],
    nodes: deps.map((_, i) => ({ id: `n${i}`, type: "bench.noop", fields: { i } })),
    edges: deps.flatMap((inputs, i) =>
      inputs.map((d) => ({ from: `n${d}`, port: "out", to: `n${i}` })),
    ),
    outputs: [],
    connections: [],
    schedules: [],
    layout: {},
  };
  const registry = createRegistry([noop]);
  const compiled = await compileFlow(graph, { registry });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics.slice(0, 3)));
  const engine = createEngine();
  let runs = 0;
  return async (state) => {
    runs += 1;
    const runId = `bench_${runs}`;
    states.set(runId, state);
    const run = engine.run(compiled.plan, {}, { runId });
    let last;
    for await (const batch of run.batches()) last = batch.at(-1);
    states.delete(runId);
    if (last.status !== "succeeded") throw new Error(`${name}: ${last.status} ${last.error?.code}`);
  };
}
