// What durable runs cost: a chain of pure nodes, steps with effects, taking over after a kill, reading a long log.
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { getHeapSpaceStatistics } from "node:v8";
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import { createEngine, createMemoryJournal, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor } from "@millrace/server";
import { openMemoryStore, openStore } from "@millrace/store";
import { spent } from "../collect.js";
import { median } from "../report.js";
import { sized } from "../size.js";
import { folder, newRun, round } from "./append-cases.js";
import { chain, endEvent, logEvents } from "./logs.js";

const LENGTH = sized(1_000, 20);
const HALF_OF = sized(10_000, 2_000); // more than one batch of events
const READ = sized(100_000, 1_000);

const effect = defineNodeType({
  type: "bench.effect",
  title: "Effect",
  summary: "Does nothing, as an effect.",
  fields: jsonSchema({ type: "object" }),
  output: jsonSchema({ type: "object" }),
  effect: "write",
  run: async () => ({}),
});
const registry = createRegistry([effect]);

function over(store) {
  const engine = createEngine({ host: createNodeHost(), journal: store.journal });
  return createLocalExecutor({
    engine,
    store,
    registry,
    maxNodes: 20_000,
    maxLiveRuns: 128, // 100 runs at once are at once, and not 64 and then 36
    maxQueuedRuns: 1_000,
  });
}

async function toEnd(executor, graph) {
  const { runId } = await executor.start({ graph, inputs: {}, trigger: "embed" });
  for await (const _page of executor.attach(runId));
}

/** Bytes that only a full collection gives back. */
function oldSpace() {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")
    .space_used_size;
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const steps = {
  ...chain(10),
  nodes: chain(10).nodes.map(({ id }) => ({ id, type: "bench.effect", fields: {} })),
};

/** What `count` runs of a graph write, in the pieces that are on disk before the next step begins: the same for each run. */
async function blocksOf(executor, graph, count) {
  const { runId } = await executor.start({ graph, inputs: {}, trigger: "embed" });
  const blocks = [[]];
  for await (const page of executor.attach(runId)) {
    for (const { kind, line } of page) {
      blocks.at(-1).push(line);
      if (kind === "node.started") blocks.push([]);
    }
  }
  return blocks.map((lines) => Buffer.concat(Array(count).fill(Buffer.concat(lines))));
}

const SAMPLES = 15;

/** Runs of ten steps with effects on SQLite, `count` at once. */
function stepCase(count, barMs, added) {
  return {
    what: `${count} runs at once of 10 steps with effects, each after its start is on disk, against one write and fdatasync a step with the lines of all, and against the same in memory`,
    samples: SAMPLES, // a disk takes now half, now twice the time
    warmMs: 3_000, // the steps are the engine's
    bars: { "raw append": null, memory: null },
    added,
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir: join(dir, "store") });
      const memory = openMemoryStore();
      const executors = { memory: over(memory), millrace: over(store) };
      const blocks = await blocksOf(executors.memory, steps, count);
      const raw = openSync(join(dir, "raw"), "a");
      const least = [];
      const kept = [];
      const all = (executor) => () =>
        timed(() => Promise.all(Array.from({ length: count }, () => toEnd(executor, steps))));
      return {
        contenders: {
          "raw append": () =>
            timed(() => {
              for (const block of blocks) {
                writeSync(raw, block);
                fdatasyncSync(raw);
              }
            }),
          memory: all(executors.memory),
          async millrace() {
            const before = oldSpace();
            const ms = await all(executors.millrace)();
            kept.push(oldSpace() - before);
            least.push(ms / 10);
            return ms;
          },
        },
        facts: () => ({
          "ms per step": { value: round(Math.min(...least)), bar: barMs },
          // One run alone makes less than there is between two collections.
          ...(count > 1 && {
            "KiB a run leaves in the old space": {
              value: round(median(kept.slice(-SAMPLES)) / count / 1024),
              bar: 6, // 13 while an ended run stayed until the next full collection
            },
          }),
        }),
        async close() {
          for (const executor of Object.values(executors)) await executor.close({ graceMs: 0 });
          closeSync(raw);
          await store.close();
          await memory.close();
          remove();
        },
      };
    },
  };
}

export const runCases = {
  // Restate on one node: 1.2 ms a step alone, 13 ms with 100 runs at once
  "10 effect steps": stepCase(1, 1.2),
  "10 effect steps, 100 runs": stepCase(sized(100, 5), 6.5, { bar: 17.4, goal: 11.6 }),

  "chain of 1,000 pure nodes": {
    what: "against the engine with its journal in memory",
    samples: 15,
    warmMs: 1_000,
    bars: { "memory journal": 3 },
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir });
      const { compileFlow } = await import("@millrace/engine");
      const { plan } = await compileFlow(chain(LENGTH), { registry });
      const run = (engine) => () => timed(() => engine.run(plan, {}).result);
      const host = createNodeHost();
      const engines = {
        "memory journal": createEngine({ host, journal: createMemoryJournal() }),
        millrace: createEngine({ host, journal: store.journal }),
      };
      return {
        contenders: Object.fromEntries(
          Object.entries(engines).map(([who, engine]) => [who, run(engine)]),
        ),
        async close() {
          for (const engine of Object.values(engines)) await engine.close({ graceMs: 0 });
          await store.close();
          remove();
        },
      };
    },
  },

  "resume of a run half done": {
    what: `${HALF_OF} nodes, half of them done: from the opening of the store to the first new start of a node, against reading its log`,
    samples: 1,
    bars: { "its log alone": null },
    async prepare() {
      const { dir, remove } = folder();
      const heap = [];
      const times = [];
      const graph = chain(HALF_OF);
      const store = await openStore({ dir });
      const engine = createEngine({
        host: createNodeHost(),
        journal: halting(store.journal, HALF_OF),
      });
      const first = createLocalExecutor({ engine, store, registry, maxNodes: 20_000 });
      await first.start({ runId: "half", graph, inputs: {}, trigger: "embed" });
      await halted;
      await store.close();
      return {
        contenders: {
          async "its log alone"() {
            const again = await openStore({ dir, readonly: true });
            const ms = await timed(() => again.journal.load("half"));
            await again.close();
            return ms;
          },
          async millrace() {
            const before = process.memoryUsage().rss;
            let opened;
            const ms = await timed(async () => {
              opened = await openStore({ dir });
              const executor = over(opened);
              const after = (await opened.runs.summary("half")).lastSeq;
              await executor.recover();
              for await (const page of executor.attach("half", { after })) {
                if (page.some(({ kind }) => kind === "node.started")) break;
              }
            });
            heap.push((process.memoryUsage().rss - before) / 1_048_576);
            times.push(ms);
            await opened.close();
            return ms;
          },
        },
        facts: () => ({
          ms: { value: Math.round(times[0]), bar: 400, goal: 250, work: 1 },
          MiB: { value: Math.round(heap[0]), bar: 100 },
        }),
        close: remove,
      };
    },
  },

  "attach and read 100,000 events": {
    what: "against one SELECT of their lines; processor time, and each collects its own garbage",
    samples: 5,
    bars: { SELECT: 0.8 },
    async prepare() {
      const { dir, remove } = folder();
      const store = await openStore({ dir });
      const { runId, epoch } = await newRun(store);
      for (let at = 0; at < READ; at += 1_000) {
        await store.journal.append(runId, at, logEvents(runId, at + 1, 1_000), {
          epoch,
          sync: false,
        });
      }
      await store.journal.append(runId, READ, [endEvent(runId, READ + 1)], { epoch, sync: true });
      const executor = over(store);
      const { createRequire } = await import("node:module");
      const Database = createRequire(
        join(import.meta.dirname ?? ".", "../../packages/store/package.json"),
      )("libsql");
      const db = new Database(join(dir, "millrace.db"));
      const select = db.prepare("SELECT seq, kind, line FROM journal WHERE run = 1 ORDER BY seq");
      return {
        contenders: {
          SELECT: () => spent(() => select.all([])),
          millrace: () =>
            spent(async () => {
              for await (const _page of executor.attach(runId));
            }),
        },
        async close() {
          db.close();
          await executor.close({ graceMs: 0 });
          await store.close();
          remove();
        },
      };
    },
  },
};

let halt;
const halted = new Promise((done) => {
  halt = done;
});

/** A journal that stands still after so many events of a run, as if its process were gone. */
function halting(inner, after) {
  return {
    ...inner,
    async append(runId, expectedSeq, events, options) {
      if (expectedSeq >= after) {
        halt();
        await new Promise(() => {});
      }
      await inner.append(runId, expectedSeq, events, options);
    },
  };
}
