// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import type { FieldValue, JsonSchema } from "@millrace/contracts";
import { formatFlow, normalizeGraph, parseFlow, printFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { flow, node } from "./cases.ts";

function readValue(text: string): FieldValue | undefined {
  const { graph, diagnostics } = parseFlow(node(text));
  expect(diagnostics).toEqual([]);
  return graph.nodes[0]?.fields["v"];
}

/** A graph of one node with one field. */
function holding(v: FieldValue) {
  const { graph } = parseFlow(flow("node a: t\n"));
  return { ...graph, nodes: [{ id: "a", type: "t", fields: { v } }] };
}

describe("a value of the text", () => {
  test.each<[string, FieldValue]>([
    ['"text"', "text"],
    ["-1.50", -1.5],
    ["-0", 0],
    ["1e3", 1000],
    ["null", null],
    ["(true)", true],
    ["- 1", -1],
    ["[1, a]", [1, { $: "a" }]],
    ["{ a: 1, b = x.y }", { a: 1, b: { $: "x.y" } }],
    ["{ $: 1 }".replace("$", '"$"'), { $lit: { $: 1 } }],
    ['{ "$t": [a] }', { $lit: { $t: [{ $: "a" }] } }],
    ['{ "$lit": { "$": 1 } }', { $lit: { $lit: { $lit: { $: 1 } } } }],
    ['{ "$": 1, b: 2 }', { $: 1, b: 2 }],
    ['"${x}"', { $t: [{ $: "x" }] }],
    ['"a${b}${c}d"', { $t: ["a", { $: "b" }, { $: "c" }, "d"] }],
    ['"$${a}"', { $t: ["$", { $: "a" }] }],
    ['"${"in ${x} side"}"', { $t: [{ $: '"in ${x} side"' }] }],
    ["2h", { $: "2h" }],
    ["-7d", { $: "-7d" }],
    ["1.5h", { $: "90m" }],
    ["[1] + [2]", { $: "[1] + [2]" }],
    ["{ a: 1 }.a", { $: "{ a: 1 }.a" }],
    ["a-b - n-1", { $: "a-b - n-1" }],
    ["a -1", { $: "a - 1" }],
    ["true ? 1 : 2", { $: "true ? 1 : 2" }],
    ["x ?.5 : 1".replace("?.5", "? 0.5"), { $: "x ? 0.5 : 1" }],
  ])("%s is %j in the graph", (text, value) => {
    expect(readValue(text)).toEqual(value);
  });

  test.each([
    ['"""\n    a\n      b\n\n    c\n    """', "a\n  b\n\nc"],
    ['"""\n    """', ""],
    ['"""\n\n    """', ""],
    ['"""\n\n\n    """', "\n"],
    ['""""\n  """\n  """"', '"""'],
    ['"""\n\ta\n\t"""', "a"],
    ['"""\r\n    a\r\n    b\r\n    """', "a\nb"],
    ['"""\n    \\d \\\\ "q"\n    """', '\\d \\\\ "q"'],
  ])("a block %j is %j", (text, value) => {
    expect(readValue(text)).toBe(value);
  });

  test.each<[string, FieldValue]>([
    ['"""\n    \\${a}\n    """', "${a}"],
    ['"""\n    \\\\${a}\n    """', { $t: ["\\", { $: "a" }] }],
    ['"""\n    \\\\\\${a}\n    """', "\\${a}"],
    ['"""\n    ${"x"} y\n    """', { $t: [{ $: '"x"' }, " y"] }],
    ['"""\n    ${\n"""\nin\n"""\n} y\n    """', { $t: [{ $: '"in"' }, " y"] }],
  ])("a block with holes %j is %j", (text, value) => {
    expect(readValue(text)).toEqual(value);
  });

  test.each([
    ['"\\n\\t\\r\\b\\f\\"\\\\\\/\\$\\u00e9"', '\n\t\r\b\f"\\/$é'],
    ['"a\tb"', "a\tb"],
    ['"\\ud83d\\udc4d"', "👍"],
    ['"\\${x} $ {y}"', "${x} $ {y}"],
  ])("a string %j is %j", (text, value) => {
    expect(readValue(text)).toBe(value);
  });
});

describe("a value of the graph", () => {
  test.each<[FieldValue, string]>([
    ["a\u0000\u0085\u2028\ufeff\u202e\ud800é", '"a\\u0000\\u0085\\u2028\\ufeff\\u202e\\ud800é"'],
    ["tab\t${x} $", '"tab\\t\\${x} $"'],
    ["one\ntwo", '"""\n    one\n    two\n    """'],
    ["one \ntwo", '"one \\ntwo"'],
    ["one\r\ntwo", '"one\\r\\ntwo"'],
    ['"""\n', '""""\n    """\n\n    """"'],
    [2 ** 53, "9.007199254740992e+15"],
    [1e21, "1e+21"],
    [{ $: "a+b*( c )" }, "a + b * c"],
    [{ $: "(a+b)*c" }, "(a + b) * c"],
    [{ $: "a - (b - c)" }, "a - (b - c)"],
    [{ $: "-(1[0])" }, "-(1[0])"],
    [{ $: "(1).a" }, "(1).a"],
    [{ $: "(a ? b : c) ? d : e" }, "(a ? b : c) ? d : e"],
    [{ $: "!(a && b)" }, "!(a && b)"],
    [{ $: "60s + 90s + 0d" }, "1m + 90s + 0ms"],
    [{ $: 'a["b"]."c d"?.e' }, 'a["b"]."c d"?.e'],
    [[], "[]"],
    [{}, "{}"],
    [[[1], [2]], "[[1], [2]]"],
    [[[[1]]], "[\n    [[1]],\n  ]"],
    [["x".repeat(70)], `["${"x".repeat(70)}"]`],
    [["x".repeat(71)], `[\n    "${"x".repeat(71)}",\n  ]`],
    [["a\nb"], '[\n    """\n      a\n      b\n      """,\n  ]'],
  ])("%j prints as %s", (value, text) => {
    expect(printFlow(holding(value))).toBe(node(text));
  });

  test.each<[FieldValue, FieldValue]>([
    [{ $: "1" }, 1],
    [{ $: "[a, 1]" }, [{ $: "a" }, 1]],
    [{ $t: ["a", "", "bc"] }, "abc"],
    [{ $: '"x${a}"' }, { $t: ["x", { $: "a" }] }],
    [{ $lit: { a: 1 } }, { a: 1 }],
    [{ $lit: [{ $: "a" }] }, [{ $: "a" }]],
    [{ $: "1 +" }, { $: "1 +" }],
    [-0, 0],
  ])("%j is normalized to %j", (value, normal) => {
    expect(normalizeGraph(holding(value)).nodes[0]?.fields["v"]).toEqual(normal);
  });
});

describe("a graph by hand", () => {
  const value = (v: unknown) => () => printFlow(holding(v as FieldValue));

  test.each([
    [Number.NaN, "/nodes/0/fields/v"],
    [[1, Number.POSITIVE_INFINITY], "/nodes/0/fields/v/1"],
    [{ a: 1n }, "/nodes/0/fields/v/a"],
    [Symbol("s"), "/nodes/0/fields/v"],
    [{ f: () => 1 }, "/nodes/0/fields/v/f"],
    [[undefined], "/nodes/0/fields/v/0"],
    [{ $lit: { $: Number.NaN } }, "/nodes/0/fields/v/$lit/$"],
  ])("is refused for %o, which no JSON says, with its place", (v, pointer) => {
    expect(value(v)).toThrow(expect.objectContaining({ code: "graph_invalid", pointer }));
  });

  test("is refused for data that no JSON says", () => {
    const graph = { ...holding(1), layout: { a: [Number.NaN, 0] } };
    expect(() => printFlow(graph)).toThrow(
      expect.objectContaining({ code: "graph_invalid", pointer: "/layout/a/0" }),
    );
  });

  test("is refused for inputs of a schedule that are one expression, which its text could not say", () => {
    const schedules = [{ name: "s", inputs: { $: "inputs" } }];
    expect(() => printFlow({ ...holding(1), schedules })).toThrow(
      expect.objectContaining({ code: "graph_invalid", pointer: "/schedules/0/inputs" }),
    );
  });
});

describe("a type", () => {
  test.each<[string, JsonSchema]>([
    ["string", { type: "string" }],
    ["int", { type: "integer" }],
    ["bool", { type: "boolean" }],
    ["null", { type: "null" }],
    ["object", { type: "object" }],
    ["any", {}],
    ["date", { type: "string", format: "date" }],
    ["datetime", { type: "string", format: "date-time" }],
    ["uri", { type: "string", format: "uri" }],
    ["string?", { type: ["string", "null"] }],
    ["datetime?", { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] }],
    ["int[]", { type: "array", items: { type: "integer" } }],
    ["int[]?", { anyOf: [{ type: "array", items: { type: "integer" } }, { type: "null" }] }],
    ["int?[]", { type: "array", items: { type: ["integer", "null"] } }],
    ["{}", { type: "object", properties: {} }],
    [
      '{ a: int, "b c": string? }',
      {
        type: "object",
        properties: { a: { type: "integer" }, "b c": { type: ["string", "null"] } },
        required: ["a"],
      },
    ],
  ])("%s is the schema %j, and the schema prints as the type", (type, schema) => {
    const text = flow(`input a: ${type}\n`);
    const { graph, diagnostics } = parseFlow(text);
    expect(diagnostics).toEqual([]);
    expect(graph.inputs).toEqual([{ name: "a", schema }]);
    expect(printFlow(graph)).toBe(text);
  });

  test.each<[JsonSchema, string]>([
    [{ type: "string", pattern: "^a" }, '{ type: "string", pattern: "^a" }'],
    [{ type: ["null", "string"] }, '{ type: ["null", "string"] }'],
    [
      { type: "object", properties: {}, required: [] },
      '{ type: "object", properties: {}, required: [] }',
    ],
    [{ enum: ["a", 1] }, '{ enum: ["a", 1] }'],
  ])("that cannot say %j leaves it a schema", (schema, text) => {
    const { graph } = parseFlow(flow(`input a {\n  schema = ${text}\n}\n`));
    expect(graph.inputs).toEqual([{ name: "a", schema }]);
    expect(printFlow(graph)).toBe(flow(`input a {\n  schema = ${text}\n}\n`));
  });

  test("with a field twice stays as written; the first counts", () => {
    const text = flow("input a: { x: int, x: string }\n");
    const { graph, diagnostics } = parseFlow(text);
    expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW2002"]);
    expect(graph.inputs[0]?.schema).toMatchObject({ properties: { x: { type: "integer" } } });
    expect(formatFlow(text).text).toBe(text);
  });

  test("takes the place of a schema that says no more", () => {
    const { text } = formatFlow(
      flow('# a\ninput a {\n  # why\n  schema = { type: "string" } # s\n}\n'),
    );
    expect(text).toBe(flow("# a\n# why\n# s\ninput a: string\n"));
  });
});

describe("policies", () => {
  test("are the graph's, in milliseconds, and print in the order of the reference", () => {
    const text = flow(`node a: t {
  v = 1
  @timeout = 90s
  @retry = {
    max: 3,
    backoff: "linear",
    delay: 500ms,
    maxDelay: 1m,
    jitter: true,
    on: ["server"],
    if: output.ok == false,
  }
  @when = inputs.go
  @on-error = { default: { n: [] } }
  @join = 2
  @concurrency = { max: 1, key: inputs.k }
  @idempotency-key = "k-\${inputs.k}"
  @cache = { ttl: 1h }
  @delivery = "atMostOnce"
}
`);
    const { graph, diagnostics } = parseFlow(text);
    expect(diagnostics).toEqual([]);
    expect(graph.nodes[0]?.policy).toEqual({
      timeoutMs: 90_000,
      retry: {
        max: 3,
        backoff: "linear",
        delayMs: 500,
        maxDelayMs: 60_000,
        jitter: true,
        on: ["server"],
        if: { $: "output.ok == false" },
      },
      when: { $: "inputs.go" },
      onError: { default: { n: [] } },
      join: 2,
      concurrency: { max: 1, key: { $: "inputs.k" } },
      idempotencyKey: { $t: ["k-", { $: "inputs.k" }] },
      cache: { ttlMs: 3_600_000 },
      delivery: "atMostOnce",
    });
    const { graph: again } = parseFlow(printFlow(graph));
    expect(again).toEqual(graph);
    const mixed = text
      .replace("  @timeout = 90s\n", "")
      .replace(/\}\n$/, "  @timeout = 90000\n}\n");
    expect(formatFlow(mixed).text).toContain("  v = 1\n  @timeout = 90s\n");
  });

  test("that are no value of their policy are reported and left out, so that the graph prints", () => {
    const { graph, diagnostics } = parseFlow(
      flow(
        'node a: t {\n  @timeout = "soon"\n  @join = -1\n}\nnode b: t {\n  @join = "some"\n  @cache = { key: 1 }\n}\n',
      ),
    );
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "@timeout must be duration, found string",
      "@join must be all, any or a whole number",
      '@join must be one of all, any, a whole number, found "some"',
      "@cache needs the field ttl",
    ]);
    expect(graph.nodes).toEqual([
      { id: "a", type: "t", fields: {} },
      { id: "b", type: "t", fields: {} },
    ]);
  });
});

test("of a key that is set twice inside an expression the first stays, so that the graph prints", () => {
  const { graph, diagnostics } = parseFlow(flow("node a: t {\n  v = size({ k: b, k: 2 })\n}\n"));
  expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW2002"]);
  expect(graph.nodes[0]?.fields).toEqual({ v: { $: "size({ k: b })" } });
  expect(printFlow(graph)).toContain("v = size({ k: b })");
});
