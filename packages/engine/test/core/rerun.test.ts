import { assertLog, type ExecutionEvent, type FlowGraph } from "@millrace/contracts";
import {
  createEngine,
  createMemoryJournal,
  type Engine,
  type Plan,
  type RerunOptions,
} from "@millrace/engine";
import { createSimClock, type SimClock } from "@millrace/engine/testing";
import { graphOf, planOf, states } from "@millrace/test-support/flows";
import { expect, onTestFinished, test } from "vitest";
import { bodyType } from "./types.ts";

const ran: string[] = [];
let isMended = false;
const work = bodyType("work", (fields, ctx) => {
  ran.push(ctx.node);
  if (fields["fail"] === true && !isMended) throw new Error("no");
  return { value: fields["value"] ?? null };
});
const types = [work];

interface Bench {
  readonly clock: SimClock;
  readonly engine: Engine;
  readonly plan: Plan;
}

const FLOW = `
input n: int = 1
node a: test.work { value = inputs.n }
node b: test.work { value = a.value }
node c: test.work { value = "c" }
node d: test.work { value = b.value }
node e: test.work { value = "e" }
c -> e`;

async function first(text: string, onFailure: "stop" | "finish" = "finish"): Promise<Bench> {
  const clock = createSimClock();
  const engine = createEngine({ host: clock, journal: createMemoryJournal({ now: clock.now }) });
  const plan = await planOf(text, { types });
  engine.run(plan, {}, { runId: "first", onFailure });
  await clock.run();
  ran.length = 0;
  return { clock, engine, plan };
}

async function again({ engine, clock }: Bench, options: RerunOptions) {
  const run = await engine.rerun("first", options);
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) events.push(...batch);
  })();
  await clock.run();
  const summary = await run.result;
  await reading;
  assertLog(events);
  return { summary, events, ran: [...ran].sort() };
}

test("a rerun takes over what had succeeded and runs the rest", async () => {
  const bench = await first(
    FLOW.replace("node d: test.work {", "node d: test.work { fail = true\n"),
  );
  const mended = await planOf(FLOW, { types });
  const { summary, events, ran: did } = await again(bench, { plan: mended });
  expect(did).toEqual(["d"]);
  expect(summary).toMatchObject({ status: "succeeded", counts: { succeeded: 5 } });
  expect(events[0]).toMatchObject({ kind: "run.started", resumedFrom: { runId: "first" } });
  const cached = events.flatMap((e) => (e.kind === "node.succeeded" && e.cached ? [e.node] : []));
  expect(cached.sort()).toEqual(["a", "b", "c", "e"]);
});

test("a rerun that one process created and another begins is the same", async () => {
  const journal = createMemoryJournal();
  const plan = await planOf(FLOW, { types });
  const engine = createEngine({ journal });
  await engine.run(plan, {}, { runId: "first" }).result;
  ran.length = 0;
  const header = engine.header(plan, {}, { runId: "second" });
  const { epoch } = await journal.create({ ...header, retryOf: "first", options: { from: ["d"] } });
  await journal.release("second", epoch);
  const run = await createEngine({ journal }).resume("second", { plan });
  const events: ExecutionEvent[] = [];
  for await (const event of run) events.push(event);
  assertLog(events);
  expect(ran).toEqual(["d"]);
  expect(events[0]).toMatchObject({ kind: "run.started", resumedFrom: { runId: "first" } });
});

test("after one node was edited exactly it and what follows it run again", async () => {
  const bench = await first(FLOW);
  const edited = await planOf(FLOW.replace('value = "c"', 'value = "new"'), { types });
  expect((await again(bench, { plan: edited })).ran).toEqual(["c", "e"]);
});

test("another input runs what reads it and what follows", async () => {
  const bench = await first(FLOW);
  const { ran: did, events } = await again(bench, { plan: bench.plan, inputs: { n: 5 } });
  expect(did).toEqual(["a", "b", "d"]);
  const d = events.find((e) => e.kind === "node.succeeded" && e.node === "d");
  expect(d).toMatchObject({ output: { value: 5 } });
});

test("from runs the named nodes again with all that follows", async () => {
  const bench = await first(FLOW);
  expect((await again(bench, { plan: bench.plan, from: ["b"] })).ran).toEqual(["b", "d"]);
  await expect(
    bench.engine.rerun("first", { plan: bench.plan, from: ["zz"] }),
  ).rejects.toMatchObject({
    code: "input_invalid",
  });
});

test("without an edit or from nothing runs, and ports and skips are as they were", async () => {
  const text = `
node c: condition { if = false }
node y: test.work
node n: test.work
node m: map { items = [1, 2]
  body { node w: test.work { value = item } } }
c.true -> y
c.false -> n`;
  const bench = await first(text);
  const { ran: did, events } = await again(bench, { plan: bench.plan });
  expect(did).toEqual([]);
  expect(states(events)).toEqual({
    c: "succeeded",
    y: "skipped:dead",
    n: "succeeded",
    m: "succeeded",
  });
  expect(events.some((e) => "node" in e && e.node?.startsWith("m["))).toBe(false);
});

test("failed items of a map that collected them run again where they are asked for, and nothing else of it", async () => {
  const body = `body {
    node w: test.work { value = item
      fail = item == 2 }
    output = w.value
  }`;
  const text = `
node m: map { items = [1, 2, 3]
  @on-error = "collect"
  ${body} }
node outer: map { items = [7]
  body {
    node inner: map { items = [1, 2]
      @on-error = "collect"
      ${body} }
    node twin: test.work { value = item }
  } }
node after: test.work { value = m.items }
node apart: test.work { value = 9 }`;
  const bench = await first(text);
  const same = await again(bench, { plan: bench.plan });
  expect(same.ran).toEqual([]);
  // That one has taken the maps over: it knows nothing of their items.
  await expect(
    bench.engine.rerun(same.summary.runId, { plan: bench.plan, failedItems: true }),
  ).rejects.toMatchObject({
    code: "input_invalid",
    message: "the items of m are in the log of the run that this one repeats; retry that one",
  });
  // What made the items fail lies outside: the same flow succeeds now.
  isMended = true;
  onTestFinished(() => {
    isMended = false;
  });
  const { ran: did, events } = await again(bench, { plan: bench.plan, failedItems: true });
  expect(did).toEqual(["after", "m[1]/w", "outer[0]/inner[1]/w"]);
  const m = events.find((e) => e.kind === "node.succeeded" && e.node === "m");
  expect(m).toMatchObject({ output: { items: [1, 2, 3], errors: [] } });
});

test("a run that is not there cannot be tried again", async () => {
  const plan = await planOf(graphOf(FLOW), { types });
  for (const engine of [createEngine(), (await first(FLOW)).engine]) {
    await expect(engine.rerun("nobody", { plan })).rejects.toMatchObject({ code: "run_not_found" });
  }
});

test("a pinned node does not run and hands its output on; another try runs what follows it", async () => {
  const bench = await first(FLOW);
  const pins = { b: { output: { value: 42 } } };
  const { ran: did, events } = await again(bench, { plan: bench.plan, pins });
  expect(did).toEqual(["d"]);
  const of = (id: string) => events.find((e) => e.kind === "node.succeeded" && e.node === id);
  expect(of("b")).toMatchObject({ cached: true, output: { value: 42 } });
  expect(of("d")).toMatchObject({ output: { value: 42 } });
});

test("pins stand in for bodies in any run, leave by a port, and are checked first", async () => {
  const text = `
node c: condition { if = true }
node y: test.work { value = 1 }
node n: test.work { value = c.result }
node k: confirm { prompt = "?" }
c.true -> y
c.false -> n
n -> k
k.rejected -> r
node r: test.work { value = k.by }`;
  ran.length = 0;
  const plan = await planOf(text, { types });
  const clock = createSimClock();
  const engine = createEngine({ host: clock });
  const pins = {
    c: { port: "false", output: { result: false } },
    k: { port: "rejected", output: { by: "nobody" } },
  };
  const run = engine.run(plan, {}, { pins });
  await clock.run();
  expect(await run.result).toMatchObject({ status: "succeeded", counts: { succeeded: 4 } });
  expect(ran).toEqual(["n", "r"]);
  for (const wrong of [
    { zz: { output: 1 } },
    { c: { port: "zz", output: 1 } },
    { y: { output: new Map() as never } },
  ]) {
    expect(() => engine.run(plan, {}, { pins: wrong as never })).toThrow(
      expect.objectContaining({
        code: "input_invalid",
        message: expect.stringContaining("options.pins"),
      }),
    );
  }
});

/** Values whose step fails, as long as they are here. */
const broken = new Set<unknown>();
const brittle = bodyType("brittle", (fields, ctx) => {
  ran.push(ctx.node);
  if (broken.has(fields["value"])) throw new Error("no");
  return { value: fields["value"] ?? null };
});

/** Runs a flow with steps that fail, mends them, and tries it again. */
async function mended(
  source: string | FlowGraph,
  wrong: readonly unknown[],
  from?: readonly string[],
) {
  const all = [...types, brittle];
  const clock = createSimClock();
  const kept = createMemoryJournal({ now: clock.now });
  const journal: typeof kept = {
    ...kept,
    // As a store, which deletes them with the end of a run.
    load: async (runId, options) => {
      const state = await kept.load(runId, options);
      return state && { ...state, privateValues: {} };
    },
  };
  const engine = createEngine({ host: clock, journal });
  const plan = await planOf(source, { types: all });
  for (const value of wrong) broken.add(value);
  engine.run(plan, {}, { runId: "first" });
  await clock.run();
  broken.clear();
  ran.length = 0;
  return again({ clock, engine, plan }, { plan, ...(from && { from }) });
}

test("finished items of a map that failed are taken over, and of the others what had succeeded", async () => {
  const text = `
node m: map { items = [1, 2, 3, 4, 5, 6]
  @concurrency = 1
  body {
    node a: test.work { value = item }
    node b: test.brittle { value = item + a.value }
    node c: test.work { value = "after" }
    a -> c
    output = b.value } }
output all: any = m.items`;
  const { ran: did, summary, events } = await mended(text, [8]); // item 3: a and c, or a alone, had succeeded
  expect(summary).toMatchObject({ status: "succeeded", outputs: { all: [2, 4, 6, 8, 10, 12] } });
  expect(did.filter((path) => /^m\[[012]\]/.test(path))).toEqual([]);
  expect(did.filter((path) => path === "m[3]/a")).toEqual([]);
  expect(did).toContain("m[3]/b");
  expect(did.filter((path) => /^m\[[45]\]/.test(path))).toHaveLength(6);
  const cached = events.filter((e) => e.kind === "node.succeeded" && e.cached);
  expect(cached.length).toBeGreaterThanOrEqual(10);
});

test("in an item that failed, what follows a step that runs again runs again, whatever it reads", async () => {
  const text = `
node m: map { items = [1]
  body {
    node a: test.brittle { value = item }
    node b: test.work { value = "same" }
    node c: test.work { value = "other" }
    a.error -> b
    b -> c
    node d: test.brittle { value = 7 } } }`;
  const { ran: did } = await mended(text, [1, 7]);
  expect(did).toEqual(["m[0]/a", "m[0]/d"]); // without its failure nothing leaves by error
});

test("rounds of a loop that had ended are taken over, with bodies within bodies", async () => {
  const text = `
node l: loop { max = 5
  init = 0
  body {
    node rows: map { items = [1, 2]
      body {
        node w: test.brittle { value = state * 10 + item }
        output = w.value } }
    output = state + 1 } }
output n: any = l.state`;
  const { ran: did, summary } = await mended(text, [32]);
  expect(summary).toMatchObject({ status: "succeeded", outputs: { n: 5 } });
  expect(did).toEqual(["l[3]/rows[1]/w", "l[4]/rows[0]/w", "l[4]/rows[1]/w"]);
});

test("items are not taken over when the map was named, or follows what runs again", async () => {
  const text = `
node a: test.work { value = 1 }
node m: map { items = [1, 2]
  @concurrency = 1
  body { node w: test.brittle { value = item } } }
a -> m`;
  expect((await mended(text, [2])).ran).toEqual(["m[1]/w"]);
  expect((await mended(text, [2], ["m"])).ran).toEqual(["m[0]/w", "m[1]/w"]);
  expect((await mended(text, [2], ["a"])).ran).toEqual(["a", "m[0]/w", "m[1]/w"]);
});

test("a step whose output held a secret runs again: the secret is gone with the run", async () => {
  const graph = {
    ...graphOf(`
input key: string = "sesame-open"
node a: test.work { value = inputs.key }
node b: test.brittle { value = a.value }`),
    inputs: [{ name: "key", default: "sesame-open", schema: { type: "string", writeOnly: true } }],
  };
  const { ran: did, summary } = await mended(graph, ["sesame-open"]);
  expect(did).toEqual(["a", "b"]);
  expect(summary.status).toBe("succeeded");
});
