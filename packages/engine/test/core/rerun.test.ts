import type { ExecutionEvent } from "@millrace/contracts";
import { assertLog } from "@millrace/contracts/testing";
import {
  createEngine,
  createMemoryJournal,
  type Engine,
  type Plan,
  type RerunOptions,
} from "@millrace/engine";
import { createSimClock, type SimClock } from "@millrace/engine/testing";
import { expect, test } from "vitest";
import { graphOf, planOf, states } from "./support.ts";
import { bodyType } from "./types.ts";

const ran: string[] = [];
const work = bodyType("work", (fields, ctx) => {
  ran.push(ctx.node);
  if (fields["fail"] === true) throw new Error("no");
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
    for await (const batch of run.events()) events.push(...batch);
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
