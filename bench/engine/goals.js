// What is not a time beside a floor: memory, cancelling, reading. One goal in one process (with `--smoke` all in one), printed as JSON
// {value, goal?, bar, unit, what}; `value` above `bar` is past it.
// Usage: node --expose-gc goals.js <name>…
import { fileURLToPath } from "node:url";
import {
  checkLog,
  createView,
  defineNodeType,
  foldEvents,
  jsonSchema,
  makeSnapshot,
  serialiseEvent,
} from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
// The log of a run is nobody's to have: an engine alone makes events.
import { EventLog } from "../../packages/engine/dist/run/event-log.js";
import { NodeStarted, NodeSucceeded } from "../../packages/engine/dist/run/event-makers.js";
import { sized } from "../size.js";
import { workload } from "./workloads.js";

const KIB = 1_024;
const MIB = 1_048_576;
const { gc } = globalThis;

const anyRecord = jsonSchema({ type: "object" });
const nodeType = (type, run) =>
  defineNodeType({
    type,
    title: type,
    summary: "A node of the bench.",
    effect: "pure",
    fields: anyRecord,
    output: anyRecord,
    run,
  });

/** A plan with a node of `types[i] ?? type` for each entry of `deps`; `values(i)` are its fields. */
async function planOf(deps, run, { fields = () => ({}), gateAt = -1 } = {}) {
  const graph = {
    version: 1,
    id: "goal",
    inputs: [],
    nodes: deps.map((_, i) =>
      i === gateAt
        ? { id: `n${i}`, type: "confirm", fields: { prompt: "Go on?" } }
        : { id: `n${i}`, type: "bench.node", fields: fields(i) },
    ),
    edges: deps.flatMap((inputs, i) =>
      inputs.map((d) => ({
        from: `n${d}`,
        port: d === gateAt ? "approved" : "out",
        to: `n${i}`,
      })),
    ),
    outputs: [],
    connections: [],
    schedules: [],
    layout: {},
  };
  const registry = createRegistry([nodeType("bench.node", run)]);
  const compiled = await compileFlow(graph, { registry });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics.slice(0, 3)));
  return compiled.plan;
}

function heapNow() {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}

const macrotask = () => new Promise((go) => setImmediate(go));

/** Until the threads of the compiler have done what they were given: what they hold meanwhile would count. */
const compiled = () => new Promise((go) => setTimeout(go, sized(500, 0)));

/** Median of the ratio of two functions called in turn. */
function ratioOf(ours, base, times = sized(41, 1)) {
  const timed = (fn) => {
    const from = performance.now();
    fn();
    return performance.now() - from;
  };
  const ratios = Array.from({ length: times }, () => timed(ours) / timed(base));
  return ratios.sort((a, b) => a - b)[Math.floor(times / 2)];
}

/** The same of the fastest of many calls, each of some microseconds: what was done, without what was beside it. */
async function fastestOf(ours, base, rounds = sized(400, 1)) {
  const times = { ours: [], base: [] };
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    await ours();
    const between = performance.now();
    base();
    times.ours.push(between - from);
    times.base.push(performance.now() - between);
  }
  return Math.min(...times.ours) / Math.min(...times.base);
}

/** The log of a run of 4,000 nodes. */
async function someLog() {
  const engine = createEngine();
  const plan = await planOf(workload("chain1000").deps.concat(Array(3_000).fill([0])), () => ({
    rows: 3,
    city: "Oslo",
  }));
  const run = engine.run(plan);
  await run.result;
  const events = [];
  for await (const batch of run.batches()) events.push(...batch);
  return { run, events };
}

/** The fold of a run with a map of so many items, and the milliseconds that its events took. */
function foldItems(items) {
  const view = createView("items");
  let seq = 0;
  const take = (kind, more) => {
    seq += 1;
    foldEvents(view, { v: 1, kind, runId: "items", seq, ts: 1_750_000_000_000, ...more });
  };
  const run = { flow: "items", nodeCount: 1, onFailure: "stop", inputs: "", trigger: "embed" };
  take("run.started", run);
  take("node.started", { node: "each", attempt: 1, type: "map" });
  const from = performance.now();
  for (let i = 0; i < items; i += 1) {
    const node = `each[${i}]/one`;
    take("node.started", { node, attempt: 1, type: "transform" });
    take("node.succeeded", { node, attempt: 1, output: { value: i }, durationMs: 1 });
  }
  return { view, ms: performance.now() - from };
}

const MANY = sized(1_000_000, 10_000);

const goals = {
  async "parked run"() {
    const RUNS = sized(1_000, 20);
    const engine = createEngine();
    const plan = await planOf(workload("conc1000x10").deps, () => ({}), { gateAt: 4 });
    const park = async (count) => {
      const runs = Array.from({ length: count }, () => engine.run(plan));
      while (runs.some(({ state }) => state !== "paused")) await macrotask();
      return runs;
    };
    const kept = [await park(RUNS)]; // what all runs share is there before it is measured, compiled code too
    await compiled();
    const before = heapNow();
    kept.push(await park(RUNS));
    await compiled();
    const value = (heapNow() - before) / RUNS / KIB;
    await engine.close({ graceMs: 0 });
    const what = `heap of a run at a gate, ${kept[1].length} runs`;
    return { value, goal: 4.5, bar: 5.2, unit: "KiB", what };
  },

  async "large outputs"() {
    const NODES = sized(10_000, 500);
    const WARM = sized(1_000, 50);
    let peak = 0;
    let made = 0;
    const body = () => {
      made += 1;
      if (made % 250 === 0) peak = Math.max(peak, heapNow());
      return { text: String(made).padEnd(100 * KIB, "x") };
    };
    const deps = Array.from({ length: NODES }, (_, i) => (i === 0 ? [] : [i - 1]));
    const fields = (i) => (i === 0 ? {} : { text: { $: `size(n${i - 1}.text)` } });
    const plan = await planOf(deps, body, { fields });
    const engine = createEngine({ host: createNodeHost() }); // its digests are no JavaScript: a gigabyte is hashed
    await engine.run(plan, {}, { only: [`n${WARM}`] }).result; // compiled code is there before it is measured
    made = 0;
    peak = 0;
    const before = heapNow();
    const run = engine.run(plan);
    const { status } = await run.result;
    if (status !== "succeeded" || made !== NODES) throw new Error(`${status}, ${made} nodes`);
    const value = (peak - before) / MIB;
    const what = "live heap over the start, 10,000 x 100 KiB";
    return { value, goal: 4, bar: 5, unit: "MiB", what };
  },

  async "cancel 1,000 nodes"() {
    const signals = [];
    let started = 0;
    const plan = await planOf(Array(1_000).fill([]), (_fields, { signal }) => {
      started += 1;
      signals.push(signal);
      return new Promise((_go, fail) =>
        signal.addEventListener("abort", () => fail(signal.reason)),
      );
    });
    const engine = createEngine({ concurrency: { run: 1_000 } });
    const run = engine.run(plan);
    while (started < 1_000) await macrotask();
    const from = performance.now();
    run.cancel();
    const ms = performance.now() - from;
    const missed = signals.filter(({ aborted }) => !aborted).length;
    await run.result;
    const what = `signals not aborted when cancel() returns, or nodes started after; ${ms.toFixed(1)} ms`;
    return { value: missed + (started - 1_000), bar: 0, unit: "", what };
  },

  async "read through a cursor"() {
    const { run, events } = await someLog();
    let taken = 0;
    const cursor = async () => {
      for await (const batch of run.batches()) for (const _event of batch) taken += 1;
    };
    const push = () => {
      const list = [];
      for (const event of events) list.push(event);
      taken += list.length;
    };
    const value = await fastestOf(cursor, push);
    return { value, bar: 2, unit: "x", what: `an array push of each of ${taken / 800} events` };
  },

  async "make an event"() {
    const { events } = await someLog();
    const started = events.filter(({ kind }) => kind === "node.started");
    const succeeded = events.filter(({ kind }) => kind === "node.succeeded");
    const nobody = { wakeReaders() {}, readersAwake() {} };
    const make = () => {
      const log = new EventLog("run_1", started.length, nobody);
      for (let i = 0; i < started.length; i++) {
        const { runId, ts, node, attempt, type } = started[i];
        const { output, durationMs } = succeeded[i];
        log.append(new NodeStarted(runId, log.seq + 1, ts, node, attempt, type), 0);
        log.append(new NodeSucceeded(runId, log.seq + 1, ts, node, attempt, output, durationMs), 0);
      }
    };
    const [v, begins, ends] = [1, "node.started", "node.succeeded"];
    const push = () => {
      const list = [];
      for (let i = 0; i < started.length; i++) {
        const { runId, ts, node, attempt, type } = started[i];
        const { output, durationMs } = succeeded[i];
        list.push({ v, kind: begins, runId, seq: list.length + 1, ts, node, attempt, type });
        const seq = list.length + 1;
        list.push({ v, kind: ends, runId, seq, ts, node, attempt, output, durationMs });
      }
    };
    const value = await fastestOf(make, push);
    const what = "an array push of a literal with the same keys; made and put into the log";
    return { value, bar: 1.15, unit: "x", what };
  },

  async "write an event"() {
    const { events } = await someLog();
    const hot = events.filter(({ kind }) => kind.startsWith("node."));
    const each = (write) => () => hot.reduce((units, event) => units + write(event).length, 0);
    const value = ratioOf(each(serialiseEvent), each(JSON.stringify));
    return { value, bar: 0.5, unit: "x", what: "JSON.stringify, hot kinds" };
  },

  async "fold a log"() {
    const { run, events } = await someLog();
    const lines = events.map((event) => JSON.stringify(event));
    const fold = () => {
      const view = createView(run.id);
      for (const event of events) foldEvents(view, event);
    };
    const parse = () => lines.reduce((seq, line) => seq + JSON.parse(line).seq, 0);
    return { value: ratioOf(fold, parse), bar: 1, unit: "x", what: "JSON.parse of its lines" };
  },

  async "view of a map"() {
    const heapOf = (items) => {
      const before = heapNow();
      const { view } = foldItems(items);
      return { bytes: heapNow() - before, view };
    };
    const few = heapOf(1_000);
    const many = heapOf(MANY);
    const snapshot = JSON.stringify(makeSnapshot(many.view, 0)).length / MIB;
    const what = `heap of a fold of 1,000,000 items over that of 1,000; its snapshot ${snapshot.toFixed(1)} MiB of 8`;
    return { value: (many.bytes - few.bytes) / MIB, bar: 16, unit: "MiB", what };
  },

  async "fold, growth"() {
    foldItems(MANY / 10); // compiled
    const few = sized(10_000, 100);
    const short = Array.from({ length: 20 }, () => foldItems(few).ms / few).sort((a, b) => a - b);
    const value = foldItems(MANY).ms / MANY / short[10];
    return { value, bar: 1.5, unit: "x", what: "an item of 1,000,000 to one of 10,000" };
  },

  async "check a log"() {
    const { run, events } = await someLog();
    const fold = () => {
      const view = createView(run.id);
      for (const event of events) foldEvents(view, event);
    };
    const value = ratioOf(() => checkLog(events), fold);
    return { value, bar: 3, unit: "x", what: "the fold of the same log" };
  },
};

export const goalNames = Object.keys(goals);

const names = process.argv[1] === fileURLToPath(import.meta.url) ? process.argv.slice(2) : [];
for (const name of names) {
  process.stdout.write(`${JSON.stringify({ name, ...(await goals[name]()) })}\n`);
}
if (names.length > 0) process.exit();
