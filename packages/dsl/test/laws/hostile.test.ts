/** Texts made to hang, overflow or exhaust a parser. They are long enough that quadratic work would not come back. */
import { formatFlow, parseExpression, parseFlow, printExpression, printFlow } from "@millrace/dsl";
import { expect, test } from "vitest";

const LENGTH = 1_000_000;

/** What is repeated over the whole text. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: holes of the flow language
const REPEATED: readonly string[] = [
  ...[
    '"',
    "'",
    "`",
    "\\",
    "[",
    "{",
    "(",
    "]",
    "}",
    ")",
    "a",
    "0",
    ".",
    ",",
    ":",
    "=",
    "-",
    "!",
    "?",
  ],
  ...[
    "@",
    "#",
    "$",
    ";",
    "/",
    "*",
    "|",
    "<",
    " ",
    "\t",
    "\n",
    "\r",
    "\0",
    "\u00a0",
    "é",
    "\ud83d",
    "👍",
  ],
  ...[
    "${",
    '"${',
    'x = "${',
    "a.",
    "a=1\n",
    "a=1;",
    "a -> ",
    "/*",
    "/**/",
    "//\n",
    "#\n",
    "'\n",
    '""\n',
  ],
  ...[
    '"""\n',
    'x = """\n${\n',
    'x = """\n"""\n',
    "x = [\n",
    "x = {\n",
    "[1,\n",
    "{a:",
    "node a: t {\n",
  ],
  ...[
    "a{",
    "} ",
    "a {\n}\n",
    "node a: t\n",
    "x = !",
    "x = 1 +\n",
    "```\n",
    "input a: { b: ",
    "a[]",
  ],
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: holes of the flow language

test.each(REPEATED)("a text of nothing but %j is read, however long", (piece) => {
  const text = `flow 1 x\n${piece.repeat(Math.ceil(LENGTH / piece.length / 4))}`;
  const { document, diagnostics } = parseFlow(text);
  expect(diagnostics.length).toBeLessThan(2200);
  expect(printFlow(document)).toBeTypeOf("string");
});

const NESTED: readonly (readonly [string, string])[] = [
  ["(", ")"],
  ["[", "]"],
  ["{ a: ", " }"],
  ["f(", ")"],
  ["a[", "]"],
  ['"${', '}"'],
  ["!", ""],
  ["-", ""],
  ["not ", ""],
  ["a ? b : ", ""],
  ["1 ?? 1 || 1 && 1 == 1 < 1 + 1 * (", ")"],
];

test.each(NESTED)(
  "%j nests up to the limit and is refused beyond it, never overflowing",
  (open, close) => {
    const nested = (depth: number): string => `${open.repeat(depth)}a${close.repeat(depth)}`;
    const { ast } = parseExpression(nested(120));
    expect(ast && printExpression(ast)).toBeTypeOf("string");
    const codes = parseExpression(nested(100_000)).diagnostics.map(({ code }) => code);
    expect(codes).toContain("FLOW1014");
  },
);

test.each(["a + ", "a ?? ", "a.", "a ? b : "])(
  "a chain of %j is refused beyond its limit",
  (link) => {
    const codes = parseExpression(`${link.repeat(100_000)}a`).diagnostics.map(({ code }) => code);
    expect(codes).toEqual(["FLOW1014"]);
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
  const empty = { inputs: [], outputs: [], connections: [], schedules: [], layout: {} };
  const graph = { version: 1 as const, id: "wide", nodes, edges, ...empty };
  expect(parseFlow(printFlow(graph)).graph).toEqual(graph);
});
