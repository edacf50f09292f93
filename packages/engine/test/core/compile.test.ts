import type { FlowGraph } from "@millrace/contracts";
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  jsonSchema,
} from "@millrace/contracts";
import { compileSchema, normalizeGraph, parseFlow, validateFlow } from "@millrace/dsl";
import { compileFlow, createEngine, createRegistry, type SubflowPort } from "@millrace/engine";
import {
  finish,
  graphOf,
  one,
  outputOf,
  planOf,
  STANDARD_TYPES,
} from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType } from "./types.ts";

const registry = createRegistry([STANDARD_TYPES]);

describe("compileFlow", () => {
  test("answers with everything that is wrong, at once, and never throws on a bad graph", async () => {
    const graph = graphOf("node a: htpp.request\nnode b: log\na -> b");
    const compiled = await compileFlow(graph, { registry });
    expect(compiled.ok).toBe(false);
    const codes = compiled.diagnostics.filter((d) => d.severity === "error").map((d) => d.code);
    expect(codes.sort()).toEqual(["FLOW3001", "FLOW3002"]);
    for (const bad of [null, 5, {}, { nodes: 7 }, { version: 1, nodes: [null] }]) {
      const answer = await compileFlow(bad as unknown as FlowGraph, { registry });
      expect(answer.ok).toBe(false);
    }
  });

  test("a checked graph is not validated again: what was found is part of the answer", async () => {
    const graph = graphOf("node a: condition { if = true }");
    const checked = validateFlow(graph, registry.catalog());
    const warning = { code: "FLOW0", severity: "warning", message: "given", pointer: "" } as const;
    const compiled = await compileFlow(graph, { registry, checked: [...checked, warning] });
    expect(compiled).toMatchObject({ ok: true, diagnostics: [...checked, warning] });
    const error = { ...warning, severity: "error" } as const;
    expect(await compileFlow(graph, { registry, checked: [error] })).toEqual({
      ok: false,
      diagnostics: [error],
    });
  });

  test("a plan tells its flow, its size, its digest and what it needs", async () => {
    const text =
      'node a: http.request { url = "https://a.example" }\nnode b: file.read { path = "x" }';
    const plan = await planOf(text);
    expect(plan).toMatchObject({ flowId: "t", nodeCount: 2, needs: ["files", "net"] });
    expect(plan.digest).toBe((await planOf(text)).digest);
    expect(plan.digest).not.toBe((await planOf(text.replace("x", "y"))).digest);
    expect(plan.catalogEntry("a")?.type).toBe("http.request");
    expect(plan.catalogEntry("z")).toBeUndefined();
    expect(JSON.stringify(plan)).not.toContain("layout");
  });

  test("what is empty may be left out of a graph, and its plan is that of the whole graph", async () => {
    const edges = [{ from: "a", to: "b" }];
    const nodes = [
      { id: "a", type: "transform", fields: { value: 1 } },
      {
        ...{ id: "b", type: "map", fields: { items: [1, 2] } },
        body: { nodes: [{ id: "t", type: "transform", fields: { value: { $: "item" } } }] },
      },
      { id: "c", type: "subflow", fields: { flow: "bare" } },
    ];
    const bare = { version: 1, id: "t", nodes, edges } as unknown as FlowGraph;
    const called = { version: 1, id: "bare", nodes: nodes.slice(0, 1) } as unknown as FlowGraph;
    const whole = normalizeGraph(bare);
    const subflows: SubflowPort = { get: async () => ({ graph: called, digest: "" }) };
    const [one, other] = [await planOf(bare, { subflows }), await planOf(whole, { subflows })];
    expect(one.digest).toBe(other.digest);
    const { summary } = await finish(bare, { subflows });
    expect(summary.status).toBe("succeeded");
  });

  test("findings of a type's own check are diagnostics at their field", async () => {
    const compiled = await compileFlow(
      graphOf('node f: fail { message = "x"\n code = "timeout" }'),
      { registry },
    );
    expect(compiled.diagnostics).toMatchObject([
      { code: "FLOW3016", severity: "error", pointer: "/nodes/0/fields/code" },
    ]);
    const { graph, document } = parseFlow(
      'flow 1 t\n\nnode f: fail {\n  message = "x"\n  code = "timeout"\n}\n',
    );
    const placed = await compileFlow(graph, { registry, document });
    expect(placed.diagnostics).toMatchObject([{ range: { start: { line: 5, column: 10 } } }]);
    const both = await compileFlow(
      graphOf('node d: delay { for = 1s\n until = "2030-01-01T00:00:00Z" }'),
      { registry },
    );
    expect(both.ok).toBe(false);
  });
});

describe("createRegistry", () => {
  test("lists core's types sorted, every schema of them checkable and every example named", () => {
    const entries = registry.entries();
    const types = entries.map(({ type }) => type);
    expect(types).toEqual([...types].sort());
    expect(types).toEqual(
      expect.arrayContaining([
        "condition",
        "confirm",
        "delay",
        "fail",
        "http.request",
        "join",
        "log",
        "loop",
        "map",
        "subflow",
        "switch",
        "transform",
      ]),
    );
    for (const entry of entries) {
      expect(compileSchema(entry.fields)).toMatchObject({ ok: true });
      expect(compileSchema(entry.output)).toMatchObject({ ok: true });
      expect(entry.examples.length).toBeGreaterThan(0);
    }
    expect([...registry.catalog().types()].sort()).toEqual(types);
    expect(registry.catalog().entry("map")?.body).toBe(true);
  });

  test("takes node types, adapters and extensions, with versions beside each other", async () => {
    const spec = {
      title: "Double",
      summary: "Doubles.",
      fields: jsonSchema<{ n: number }>({
        type: "object",
        properties: { n: { type: "number" } },
        required: ["n"],
      }),
      output: jsonSchema<unknown>({ type: "object", properties: { n: { type: "number" } } }),
      effect: "pure",
    } as const;
    const double = defineAction<{ n: number }, unknown>({
      ...spec,
      name: "double",
      run: ({ n }) => ({ n: n * 2 }),
    });
    const triple = defineAction<{ n: number }, unknown>({
      ...spec,
      name: "double@2",
      run: ({ n }) => ({ n: n * 3 }),
    });
    const adapter = defineActionAdapter({ id: "calc", title: "Calc", actions: [double, triple] });
    const extension = defineExtension({ adapters: [adapter] });
    const { events } = await finish(
      "node a: calc.double@1 { n = 2 }\nnode b: calc.double@2 { n = 2 }\nnode c: calc.double { n = a.n }",
      { types: [extension] },
    );
    expect(["a", "b", "c"].map((id) => outputOf(events, id))).toEqual([
      { n: 4 },
      { n: 6 },
      { n: 12 },
    ]);
    expect(one(events, "node.started", "b").type).toBe("calc.double@2");
  });

  test("an output that breaks its schema fails the node, and the message names the place, not the value", async () => {
    const out = defineAction<object, unknown>({
      name: "out",
      title: "Out",
      summary: "Answers.",
      fields: jsonSchema({ type: "object" }),
      output: jsonSchema({ type: "object", properties: { n: { type: "number" } } }),
      effect: "pure",
      run: () => ({ n: "private text" }),
    });
    const { summary } = await finish("node a: x.out", {
      types: [defineActionAdapter({ id: "x", title: "X", actions: [out] })],
    });
    expect(summary.error).toMatchObject({
      code: "output_schema",
      message: expect.stringContaining("/n"),
    });
    expect(summary.error?.message).not.toContain("private");
  });

  test("refuses a type twice, what is no type, and a schema that cannot be checked", () => {
    const type = bodyType("twice", () => ({}));
    expect(() => createRegistry([type, type])).toThrow(
      expect.objectContaining({ code: "registry_duplicate" }),
    );
    expect(() => createRegistry([{} as never])).toThrow(
      expect.objectContaining({ code: "registry_invalid" }),
    );
    const odd = defineAction<object, unknown>({
      name: "odd",
      title: "Odd",
      summary: "Odd.",
      fields: jsonSchema({ type: "object", minProperties: 1 }),
      output: jsonSchema({}),
      effect: "pure",
      run: () => ({}),
    });
    expect(() =>
      createRegistry([defineActionAdapter({ id: "odd", title: "Odd", actions: [odd] })]),
    ).toThrow(
      expect.objectContaining({
        code: "registry_invalid",
        message: expect.stringContaining("minProperties"),
      }),
    );
  });
});

describe("inputs", () => {
  test("are checked before any event; every problem is told", async () => {
    const plan = await planOf(
      'input n: int\ninput s: string = "x"\nnode a: transform { value = [inputs.n, inputs.s] }',
    );
    const engine = createEngine();
    expect(engine.checkInputs(plan, { n: 1 })).toEqual([]);
    const problems = engine.checkInputs(plan, { n: 1.5, s: 3, extra: 1 });
    expect(problems.map(({ pointer, severity }) => [pointer, severity])).toEqual([
      ["/n", "error"],
      ["/s", "error"],
      ["/extra", "error"],
    ]);
    expect(engine.checkInputs(plan, {})).toMatchObject([
      { pointer: "/n", message: "the input n is required" },
    ]);
    expect(engine.checkInputs(plan, [])).toMatchObject([{ pointer: "" }]);
    expect(() => engine.run(plan, {})).toThrow(
      expect.objectContaining({
        code: "input_invalid",
        diagnostics: [expect.objectContaining({ pointer: "/n" })],
      }),
    );
  });

  test("defaults count as given, and a run tells the digest of all of them", async () => {
    const text = "input n: int = 3\nnode a: transform { value = inputs.n }";
    const byDefault = await finish(text);
    const given = await finish(text, { inputs: { n: 3 } });
    expect(outputOf(byDefault.events, "a")).toEqual({ value: 3 });
    expect(one(byDefault.events, "run.started").inputs).toBe(
      one(given.events, "run.started").inputs,
    );
  });

  test("a secret input never shows in the log", async () => {
    const graph = graphOf(
      'input key: string\nnode a: transform { value = "Bearer ${inputs.key}" }',
    );
    const secret = {
      ...graph,
      inputs: [{ name: "key", schema: { type: "string", format: "password" } }],
    } as FlowGraph;
    const { events } = await finish(secret, { inputs: { key: "hunter2-hunter2" } });
    expect(outputOf(events, "a")).toEqual({ value: "Bearer [redacted]" });
    expect(JSON.stringify(events)).not.toContain("hunter2");
  });
});

describe("options of a run", () => {
  test("only runs the named nodes and what leads to them; the others are skipped at the end", async () => {
    const text = `
node a: transform { value = 1 }
node b: transform { value = a.value + 1 }
node c: log { message = "c" }
node d: log { message = "d" }
b -> c
output c: any = b.value
output d: any = d != null`;
    const { events, summary } = await finish(text, { run: { only: ["b"] } });
    expect(summary.counts).toEqual({ succeeded: 2, failed: 0, skipped: 2, cancelled: 0 });
    expect(summary.outputs).toEqual({ c: 2 });
    expect(one(events, "node.skipped", "c").why).toBe("run_ended");
    await expect(finish(text, { run: { only: ["zz"] } })).rejects.toMatchObject({
      code: "input_invalid",
    });
  });

  test("trigger, template, tags and title are on the first event; bad ids and tags are refused", async () => {
    const { events } = await finish('flow 1 t { title = "T" }\nnode a: log { message = "x" }', {
      run: { trigger: "api", template: "tt", tags: { team: "a" }, runId: "my-run" },
    });
    expect(one(events, "run.started")).toMatchObject({
      runId: "my-run",
      flow: { id: "t", title: "T" },
      trigger: "api",
      template: "tt",
      tags: { team: "a" },
    });
    for (const run of [{ runId: "no/slash" }, { tags: { a: "x".repeat(200) } }]) {
      await expect(finish('node a: log { message = "x" }', { run })).rejects.toMatchObject({
        code: "input_invalid",
      });
    }
  });

  test("a run without an id gets one that sorts by time", async () => {
    const { events } = await finish('node a: log { message = "x" }');
    expect(events[0]?.runId).toMatch(/^run_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  test("a flow without nodes succeeds", async () => {
    const { summary } = await finish("flow 1 t\noutput n: int = 1");
    expect(summary).toMatchObject({ status: "succeeded", outputs: { n: 1 } });
  });
});
