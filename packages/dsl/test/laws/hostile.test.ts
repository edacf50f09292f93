/** Texts made to hang, overflow or exhaust a parser. They are long enough that quadratic work would not come back. */

import type { Diagnostic } from "@millrace/contracts";
import {
  compileExpression,
  digest,
  formatFlow,
  impliedEdges,
  normalizeGraph,
  parseExpression,
  parseFlow,
  printExpression,
  printFlow,
  reconcile,
  validateFlow,
} from "@millrace/dsl";
import { casesOf, notFull } from "@millrace/test-support";
import { graphWith } from "@millrace/test-support/graph";
import { describe, expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";
import { NESTED, REPEATED } from "./hostile.ts";

// Most of these texts take a tenth of a second, which `bench/` watches; work that is not linear takes hours.

const LENGTH = casesOf(250_000);
const CHARACTERS = casesOf(10_000_000);
/** More than a call takes arguments. */
const MANY = 130_000;

/** A hundred errors and FLOW1099, and at most so many slips. */
function expectFewFindings(diagnostics: readonly Diagnostic[]): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  expect(errors.length).toBeLessThanOrEqual(101);
  expect(errors.filter(({ code }) => code === "FLOW1099")).toHaveLength(
    errors.length > 100 ? 1 : 0,
  );
  expect(diagnostics.length).toBeLessThan(2200);
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: holes of the flow language
test.each([
  ..."\"'`\\[{(]})a0.,:=-!?@#$;/*|<>%&~^ \t\n\r\0\u00a0é日\ud83d\ufeff\u2028\u202e",
  "👍",
])("a text of %j alone is read", (char) => {
  const text = char.repeat(CHARACTERS / char.length);
  expectFewFindings(parseFlow(`flow 1 x\n${text}`).diagnostics);
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: holes of the flow language

test.each(
  [
    ["in an empty layout", (comments: string) => `layout {\n${comments}}\n`],
    ["in the object of a chain", (comments: string) => `a -> b -> c {\n${comments}  v: 1 }\n`],
    [
      "in a schema that is a type",
      (c: string) => `input a {\n  schema = {\n${c}type: "string" }\n}\n`,
    ],
    ["before the name of a connection", (c: string) => `connection a: b {\n${c}  slug = "a"\n}\n`],
  ].slice(0, notFull === undefined ? 4 : 1) as [string, (comments: string) => string][],
)(
  "comments %s, more than a call takes arguments, are kept, and go with what they are in",
  (_, text) => {
    const source = `flow 1 x\n\n${text("# c\n".repeat(MANY))}`;
    const { document, graph } = parseFlow(source);
    const formatted = formatFlow(source).text;
    expect(formatted.split("# c").length).toBe(MANY + 1);
    expect(printFlow(reconcile(document, graph))).toBe(formatted);
    const { version, id } = graph;
    const nothing = parseFlow(`flow ${version} ${id}\n`).graph;
    expect(parseFlow(printFlow(reconcile(document, nothing))).graph).toEqual(nothing);
  },
);

test.each(REPEATED)("a text of nothing but %j is read and printed, however long", (piece) => {
  const text = `flow 1 x\n${piece.repeat(Math.ceil(LENGTH / piece.length))}`;
  const { document, diagnostics } = parseFlow(text);
  expectFewFindings(diagnostics);
  expect(printFlow(document)).toBeTypeOf("string");
});

const OPERATORS = "?? || && == != in < <= > >= + - * / %".split(" ");

test.each(NESTED)(
  "%j nests up to the limit and is refused beyond it, never overflowing; the rest of the flow is read",
  (open, close) => {
    const nested = (depth: number): string => `${open.repeat(depth)}a${close.repeat(depth)}`;
    const { ast } = parseExpression(nested(90));
    expect(ast && printExpression(ast)).toBeTypeOf("string");
    const deep = nested(100_000);
    expect(parseExpression(deep).diagnostics.map(({ code }) => code)).toContain("FLOW1014");
    const { graph, diagnostics } = parseFlow(
      `flow 1 x\n\nnode a: t {\n  v = ${deep}\n  w = 1\n}\n\nnode b: t\n`,
    );
    expectFewFindings(diagnostics);
    expect(diagnostics.map(({ code }) => code)).toContain("FLOW1014");
    expect(graph.nodes.map(({ id, fields }) => [id, fields["w"]])).toEqual([
      ["a", 1],
      ["b", undefined],
    ]);
  },
);

test.each(["a.", "a?.", "a ? b : ", ...OPERATORS.map((operator) => `a ${operator} `)])(
  "a chain of %j is refused beyond its limit",
  (link) => {
    const codes = parseExpression(`${link.repeat(100_000)}a`).diagnostics.map(({ code }) => code);
    expect(codes).toEqual(["FLOW1014"]);
  },
);

test.each(["[0]", ".a", "?.a", "()"])(
  "a hundred thousand times %j behind a name is one error",
  (link) => {
    const { ast, diagnostics } = parseExpression(`a${link.repeat(100_000)}`);
    expect([ast, diagnostics.length]).toEqual([undefined, 1]);
  },
);

test.each([
  ["[]", (depth: number) => `string${"[]".repeat(depth)}`],
  ["?", (depth: number) => `string${"[]?".repeat(depth)}`],
  ["{ a: ", (depth: number) => `${"{ a: ".repeat(depth)}string${" }".repeat(depth)}`],
] as const)(
  "a type of a hundred thousand %j is one error, and the next item is read",
  (_, type) => {
    const read = parseFlow(`flow 1 x\ninput a: ${type(100_000)}\nnode b: t\n`);
    expect(read.diagnostics.map(({ code }) => code)).toEqual(["FLOW1014"]);
    expect(read.graph.nodes).toHaveLength(1);
    expect(formatFlow(`flow 1 x\ninput a: ${type(60)}\n`).diagnostics).toEqual([]);
  },
);

test("a chain of a thousand operators is one expression", () => {
  const { ast } = parseExpression(`${"a + ".repeat(999)}a`);
  expect(ast && printExpression(ast)).toBe(`${"a + ".repeat(999)}a`);
});

test("what is nested too deep is dropped; its item and all others stay", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const { graph, diagnostics } = parseFlow(
    `flow 1 x\n\nnode a: t {\n  v = ${deep}\n  w = 1\n}\n\nnode b: t\n`,
  );
  expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW1014"]);
  expect(graph.nodes.map(({ id, fields }) => [id, Object.keys(fields)])).toEqual([
    ["a", ["v", "w"]],
    ["b", []],
  ]);
});

test("bodies nest up to the limit", () => {
  const bodies = (depth: number): string =>
    `flow 1 x\n${"node a: map {\nbody {\n".repeat(depth)}${"}\n}\n".repeat(depth)}`;
  expect(formatFlow(bodies(200)).diagnostics).toEqual([]);
  expect(parseFlow(bodies(50_000)).diagnostics[0]?.code).toBe("FLOW1014");
});

test("a graph that is too deep is refused with its place, not with an overflow", () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) value = [value];
  const graph = { version: 1, id: "x", nodes: [{ id: "a", type: "t", fields: { v: value } }] };
  expect(() => printFlow(graph as never)).toThrow(
    expect.objectContaining({ code: "graph_invalid" }),
  );
});

test("thousands of nodes and edges are read and printed", () => {
  const count = 5000;
  const nodes = Array.from({ length: count }, (_, n) => ({
    id: `n${n}`,
    type: "t",
    fields: { n },
  }));
  const edges = nodes.slice(1).map(({ id }, n) => ({ from: `n${n}`, port: "out", to: id }));
  const graph = graphWith({ id: "wide", nodes, edges });
  expect(parseFlow(printFlow(graph)).graph).toEqual(graph);
});

describe("a text may hold", () => {
  const node = (value: string): string => `flow 1 x\n\nnode a: t {\n  v = ${value}\n}\n`;

  test.each([
    ["a byte order mark", "\ufeffflow 1 x\n", []],
    ["CRLF", node("1").replaceAll("\n", "\r\n"), []],
    ["a lone CR", "flow 1 x\rnode a: t\r", ["FLOW1001"]],
    ["NUL between items", "flow 1 x\n\0\nnode a: t\n", ["FLOW1001"]],
    ["NUL in a string", node('"a\0"'), ["FLOW1002"]],
    ["NUL in a comment", "flow 1 x # a\0\n", ["FLOW1002"]],
    ["a lone surrogate in a string", node('"\ud83d"'), []],
    ["a lone surrogate between items", "flow 1 x\n\udc00\n", ["FLOW1001"]],
    ["a number out of range", node("[1e400, -1e400]"), ["FLOW1012", "FLOW1012"]],
    ["an integer that is not kept", node("9007199254740993"), ["FLOW1013"]],
    ["a key twice", node('{ k: 1, "k": 2 }'), ["FLOW2002"]],
    ["a version of the future", "flow 7 x\nnode a: t\n", ["FLOW0002"]],
  ])("%s", (_, text, codes) => {
    const { graph, diagnostics } = parseFlow(text);
    expect(diagnostics.map(({ code }) => code)).toEqual(codes);
    expect(graph.id).toBe("x");
    expect(formatFlow(text).diagnostics.map(({ code }) => code)).toEqual(codes);
  });

  test("bytes that are no UTF-8", () => {
    const { diagnostics } = parseFlow(Uint8Array.of(0xff, 0xfe, 0, 0x80));
    expect(diagnostics[0]?.code).toBe("FLOW0001");
  });

  test("-0, which is 0", () => {
    const { graph } = parseFlow(node("[-0, -0.0, a - -0]"));
    expect(graph.nodes[0]?.fields["v"]).toEqual([0, 0, { $: "a - 0" }]);
  });

  test.each(["-00", "-.0", "-0x0", "-0e"])("%s, which is no number, and is read as 0", (zero) => {
    const { document, graph, diagnostics } = parseFlow(node(zero));
    expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW1010"]);
    expect(graph.nodes[0]?.fields).toEqual({ v: 0 });
    expect(parseFlow(printFlow(document)).graph).toEqual(graph);
  });
});

test.each([
  ..."flow node input output connection schedule layout body end true false null in and or not".split(
    " ",
  ),
  ..."__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__".split(" "),
  ..."None undefined NaN Infinity size map item index state run".split(" "),
])("%s is an id, a field and a member like any other", (name) => {
  const field = Object.fromEntries([[name, { $: `nodes["${name}"]["${name}"]` }]]);
  const graph = graphWith({
    id: name,
    inputs: [{ name, default: Object.fromEntries([[name, 1]]) }],
    nodes: [
      { id: name, type: "transform", fields: { value: 1 } },
      { id: "reader", type: "transform", fields: field },
    ],
    edges: [{ from: name, port: name, to: "reader" }],
    outputs: [{ name, value: { $: `nodes["${name}"].value` } }],
  });
  const text = printFlow(graph);
  const read = parseFlow(text);
  expect(read).toMatchObject({ graph, diagnostics: [] });
  expect(formatFlow(text)).toMatchObject({ text, changed: false });
  expect(printFlow(reconcile(read.document, graph))).toBe(text);
  expect(digest(read.graph)).toBe(digest(graph));
  const isReserved = name === "run";
  const codes = validateFlow(read.graph, catalog).map(({ code }) => code);
  expect(codes.includes("FLOW2007")).toBe(isReserved);
  expect(impliedEdges(graph)).toMatchObject([{ from: name, to: "reader" }]);
  const source = `nodes["${name}"]["${name}"]`;
  const compiled = compileExpression(source);
  const scope = { get: () => JSON.parse(`{ "${name}": { "${name}": 7 } }`) as never };
  expect(compiled.evaluate(scope, { nowEpoch: 0 })).toBe(7);
  expect(compiled.references).toHaveLength(1);
});

test.each(["constructor", "__proto__", "toString"])("@%s is a policy that nobody knows", (name) => {
  const policy = `{\n  @${name} = { delay: 500 }\n}`;
  const text = `flow 1 x ${policy}\n\nnode a: t ${policy}\n`;
  const { document, graph, diagnostics } = parseFlow(text);
  expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW2012", "FLOW2012"]);
  expect(formatFlow(text)).toMatchObject({ text, changed: false });
  expect(printFlow(document)).toBe(text);
  const odd = Object.fromEntries([[name, { delay: -0 }]]);
  const [node] = normalizeGraph({
    ...graph,
    nodes: [{ id: "a", type: "t", fields: {}, policy: odd }],
  }).nodes;
  expect(node?.policy).toEqual(Object.fromEntries([[name, { delay: 0 }]]));
});
