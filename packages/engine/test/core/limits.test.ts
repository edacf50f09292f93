import type { FlowGraph } from "@millrace/contracts";
import { compileFlow, createEngine, createRegistry, type Limits } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import {
  finish,
  graphOf,
  kinds,
  of,
  one,
  planOf,
  start,
  states,
} from "@millrace/test-support/flows";
import { graphWith } from "@millrace/test-support/graph";
import { describe, expect, test } from "vitest";
import { bodyType, deaf } from "./types.ts";

const big = bodyType("big", (fields) => ({ text: "x".repeat(fields["n"] as number) }));

/** Runs a flow under limits of the run and gives what its summary says went wrong. */
async function errorUnder(limits: Partial<Limits>, text: string, inputs = {}): Promise<string> {
  const { summary } = await finish(text, { types: [big], run: { limits }, inputs });
  expect(summary.status).toBe("failed");
  return `${summary.error?.node ?? "run"} ${summary.error?.code} ${summary.error?.message}`;
}

describe("limits of a node fail the node", () => {
  test.each<[keyof Limits, Partial<Limits>, string, string]>([
    ["outputBytes", { outputBytes: 100 }, "node a: test.big { n = 200 }", "output_too_large"],
    [
      "map.items",
      { "map.items": 2 },
      "node a: map { items = [1, 2, 3]\n body { output = 1 } }",
      "limit_exceeded",
    ],
    [
      "loop.max",
      { "loop.max": 2 },
      "node a: loop { max = 3\n body { output = 1 } }",
      "limit_exceeded",
    ],
    ["confirmations", { confirmations: 0 }, 'node a: confirm { prompt = "?" }', "limit_exceeded"],
    [
      "depth",
      { depth: 1 },
      "node a: map { items = [1]\n body { output = 1 } }",
      "nesting_too_deep",
    ],
  ])("%s", async (name, limits, text, code) => {
    const error = await errorUnder(limits, text);
    expect(error).toContain(`a ${code}`);
    expect(error).toContain(name);
  });

  test("exprSteps and exprBytes", async () => {
    const text = "input n: int\nnode a: transform { value = map(range(inputs.n), x, x) }";
    for (const limits of [{ exprSteps: 10 }, { exprBytes: 10 }]) {
      const compiled = await compileFlow(graphOf(text), { registry: createRegistry(), limits });
      if (!compiled.ok) throw new Error("does not compile");
      const clock = createSimClock();
      const run = createEngine({ host: clock }).run(compiled.plan, { n: 100 });
      await clock.run();
      expect((await run.result).error).toMatchObject({
        code: "expression_error",
        cause: "budget_exceeded",
      });
    }
  });

  test("logBytes drops the rest after one warning", async () => {
    const chatty = bodyType("chatty", (_fields, ctx) => {
      for (let i = 0; i < 10; i += 1) ctx.log("info", "0123456789");
      return {};
    });
    const { events } = await finish("node a: test.chatty", {
      types: [chatty],
      run: { limits: { logBytes: 35 } },
    });
    const lines = of(events, "a").flatMap((e) => (e.kind === "log" ? [e.level] : []));
    expect(lines).toEqual(["info", "info", "info", "warn"]);
  });
});

describe("limits of a run fail the run", () => {
  test.each<[keyof Limits, Partial<Limits>, string]>([
    [
      "executions",
      { executions: 3 },
      "node a: map { items = range(5)\n body { node t: transform { value = 1 } } }",
    ],
    [
      "events",
      { events: 80 },
      "node a: loop { max = 100\n body { node t: transform { value = 1 } } }",
    ],
    [
      "liveBytes",
      { liveBytes: 500 },
      "node a: test.big { n = 300 }\nnode b: test.big { n = 300 }\nnode c: transform { value = [a.text, b.text] }\nb -> c",
    ],
  ])("%s", async (name, limits, text) => {
    const error = await errorUnder(limits, text);
    expect(error).toContain("run limit_exceeded");
    expect(error).toContain(name);
  });

  test("wallClockMs cancels it with reason timeout", async () => {
    const { summary } = await finish("node d: delay { for = 1h }", {
      run: { limits: { wallClockMs: 500 } },
    });
    expect(summary).toMatchObject({ status: "cancelled", durationMs: 500, exitCode: 124 });
    expect(summary.error).toMatchObject({
      code: "run_timeout",
      message: expect.stringContaining("limit wallClockMs"),
    });
  });

  test("graceMs drops a body that does not settle", async () => {
    const { run, end } = await start("node a: test.deaf", {
      types: [deaf],
      run: { limits: { graceMs: 300 } },
    });
    run.cancel();
    expect(await end()).toMatchObject({ status: "cancelled", durationMs: 300 });
  });

  test("a log that reaches its limit still has an end for every open node", async () => {
    const nodes = Array.from({ length: 60 }, (_, i) => `node n${i}: delay { for = 1h }`);
    const { summary, events } = await finish(nodes.join("\n"), {
      run: { limits: { events: 170 } },
    });
    expect(summary.status).toBe("failed");
    expect(events.length).toBeLessThanOrEqual(170);
    expect(Object.keys(states(events))).toHaveLength(60);
  });
});

test("a run may lower the limits of its engine, not raise them", async () => {
  const { summary } = await finish("node a: test.big { n = 200 }", {
    types: [big],
    engine: { limits: { outputBytes: 100 } },
    run: { limits: { outputBytes: 1_000 } },
  });
  expect(summary.error?.code).toBe("output_too_large");
});

test("inputBytes refuses the run before any event", async () => {
  const plan = await planOf("input s: string\nnode a: log { message = inputs.s }");
  const engine = createEngine({ limits: { inputBytes: 100_000 } });
  expect(() => engine.run(plan, { s: "x".repeat(100_000) })).toThrow(
    expect.objectContaining({
      code: "input_invalid",
      message: expect.stringContaining("inputBytes"),
    }),
  );
});

test("nodes, edges and depth refuse the plan", async () => {
  const registry = createRegistry();
  const text = 'node a: log { message = "a" }\nnode b: log { message = "b" }\na -> b';
  for (const [limits, name] of [
    [{ nodes: 1 }, "nodes"],
    [{ edges: 0 }, "edges"],
    [{ depth: 0 }, "depth"],
  ] as const) {
    const compiled = await compileFlow(graphOf(text), { registry, limits });
    expect(compiled.ok).toBe(false);
    expect(compiled.diagnostics.at(-1)).toMatchObject({
      code: "limit_exceeded",
      message: expect.stringContaining(`limit ${name}`),
    });
  }
});

test("a long chain of nodes runs through", async () => {
  const n = 30_000; // deeper than the stack of any function that calls itself
  const graph: FlowGraph = graphWith({
    id: "chain",
    nodes: Array.from({ length: n }, (_, i) => ({
      id: `n${i}`,
      type: "log",
      fields: { message: "x", level: "debug" },
    })),
    edges: Array.from({ length: n - 1 }, (_, i) => ({
      from: `n${i}`,
      port: "out",
      to: `n${i + 1}`,
    })),
  });
  const plan = await planOf(graph);
  const run = createEngine().run(plan);
  let last = 0;
  for await (const batch of run.batches()) {
    for (const { seq } of batch) {
      if (seq !== last + 1) throw new Error(`${seq} follows ${last}`);
      last = seq;
    }
  }
  const summary = await run.result;
  expect(summary.counts.succeeded).toBe(n);
  expect(last).toBe(3 * n + 2);
});

test("a reference chain as deep as the flow needs no stack either", async () => {
  const n = 5_000;
  const lines = Array.from({ length: n }, (_, i) =>
    i === 0
      ? "node n0: transform { value = 0 }"
      : `node n${i}: transform { value = n${i - 1}.value + 1 }`,
  );
  const { summary } = await finish(`${lines.join("\n")}\noutput last: int = n${n - 1}.value`);
  expect(summary.outputs).toEqual({ last: n - 1 });
});

test("outputs that nobody reads any more are let go", async () => {
  const lines = Array.from({ length: 50 }, (_, i) =>
    i === 0
      ? "node n0: test.big { n = 1000 }"
      : `node n${i}: test.big { n = 1000\n after = size(n${i - 1}.text) }`,
  );
  const { summary, events } = await finish(lines.join("\n"), {
    types: [big],
    run: { limits: { liveBytes: 15_000 } },
  });
  expect(summary.status).toBe("succeeded");
  expect(kinds(events)).toHaveLength(102);
});

test("a large output stands beside the log, and readers still see all of it", async () => {
  const { events } = await finish(
    "node a: test.big { n = 70000 }\nnode b: transform { value = size(a.text) }",
    {
      types: [big],
    },
  );
  const { outputRef, output } = one(events, "node.succeeded", "a");
  expect(output).toBeUndefined();
  expect(outputRef).toMatchObject({ mediaType: "application/json", bytes: 70_011 });
  expect(outputRef?.ref).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(one(events, "node.succeeded", "b").output).toEqual({ value: 70_000 });
});

test("large outputs of a flow leave its summary, the largest first", async () => {
  const { summary } = await finish(
    `node a: test.big { n = 70000 }
node b: test.big { n = 100 }
output a: string = a.text
output b: string = b.text`,
    { types: [big] },
  );
  expect(Object.keys(summary.outputs)).toEqual(["b"]);
  expect(Object.keys(summary.outputRefs ?? {})).toEqual(["a"]);
});
