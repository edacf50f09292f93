// Many nodes that are answered at once, without a network: what one of them holds while it waits for its next delta.

import { aiSettings } from "@millrace/ai";
import { createNodeHost } from "@millrace/engine/node";
import { createScriptedProvider } from "@millrace/providers";
import { collect } from "../collect.js";
import { sized } from "../size.js";
import { createEngine, planOf } from "./engine.js";

const NODES = sized(1_000, 20);
const KIB = 1_024;

const flowOf = (node) => {
  const nodes = Array.from({ length: NODES }, (_, i) => `node n${i}: ${node}`);
  return `flow 1 many\n${nodes.join("\n")}\n`;
};

/** Starts the flow, waits until all nodes stand, and answers with the milliseconds and the bytes that each of them holds. */
async function stand(engine, plan, isStanding) {
  collect();
  const before = process.memoryUsage().heapUsed;
  const from = performance.now();
  const run = engine.run(plan, {});
  let left = NODES;
  let found;
  for await (const batch of run.batches()) {
    left -= batch.filter(isStanding).length;
    if (left > 0 || found !== undefined) continue;
    const ms = performance.now() - from;
    collect();
    found = { ms, bytes: (process.memoryUsage().heapUsed - before) / NODES };
    run.cancel();
  }
  return found;
}

async function many() {
  const entry = { text: "Hello there", hangAfter: 1 };
  const asking = await planOf(
    flowOf('ai {\n  provider = "scripted"\n  modelId = "m"\n  input = "Hello"\n}'),
  );
  const waiting = await planOf(flowOf("delay {\n  for = 10m\n}"));
  const concurrency = { run: NODES, types: { ai: NODES } };
  const engineFor = () => {
    const providers = [createScriptedProvider(Array.from({ length: NODES }, () => entry))];
    return createEngine({
      host: createNodeHost(),
      settings: [aiSettings({ providers })],
      concurrency,
    });
  };
  const held = [];
  return {
    contenders: {
      "delay nodes": async () =>
        (await stand(engineFor(), waiting, ({ kind }) => kind === "node.started")).ms,
      millrace: async () => {
        const { ms, bytes } = await stand(engineFor(), asking, ({ kind }) => kind === "llm.delta");
        held.push(bytes);
        return ms;
      },
    },
    facts: () => {
      const bytes = held.sort((a, b) => a - b)[Math.floor(held.length / 2)];
      return { "KiB a node": { value: Number((bytes / KIB).toFixed(1)), bar: 12 } };
    },
  };
}

export const manyCases = {
  [`${NODES.toLocaleString("en")} nodes at once`]: {
    what: "clock until each of them has its first delta, beside as many delay nodes; heap of one while it waits for the next",
    bars: { "delay nodes": null },
    samples: 5,
    prepare: many,
  },
};
