import type { FieldValue, FlowGraph, FlowNode } from "@millrace/contracts";
import { DslError, parseFlow, printFlow, reconcile } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { flow, node } from "../read/cases.ts";

type Edit = (graph: FlowGraph) => Partial<FlowGraph>;

/** A text after its graph was edited and brought back. */
function edited(text: string, edit: Edit, renames?: Record<string, string>): string {
  const { document, graph } = parseFlow(text);
  const next = { ...graph, ...edit(graph) };
  const result = reconcile(document, next, renames && { renames });
  return printFlow(result);
}

const TEXT = flow(`# what it is for
input who: string = "you" # trails

# A paragraph about all nodes.

# the first
node first: log {
  # why
  message = "hi" # how

  level = "info"
  # foot of first
}

# the second
node second: log {
  message = "there"
}

# order
first -> second # last

# end of file
`);

describe("reconcile", () => {
  test("with the same graph gives the text back", () => {
    expect(edited(TEXT, () => ({}))).toBe(TEXT);
  });

  test("changes only the value that changed", () => {
    const text = edited(TEXT, ({ nodes }) => ({
      nodes: nodes.map((node) =>
        node.id === "first" ? { ...node, fields: { ...node.fields, message: "hello" } } : node,
      ),
    }));
    expect(text).toBe(TEXT.replace('"hi"', '"hello"'));
  });

  test("takes a node away with its comments; the paragraph above them stays", () => {
    const text = edited(TEXT, ({ nodes }) => ({ nodes: nodes.slice(1), edges: [] }));
    expect(text).toBe(
      flow(`# what it is for
input who: string = "you" # trails

# A paragraph about all nodes.

# the second
node second: log {
  message = "there"
}

# end of file
`),
    );
  });

  test("puts a new node behind its neighbour in the graph", () => {
    const added = { id: "between", type: "log", fields: { message: "new" } };
    const text = edited(TEXT, ({ nodes }) => ({ nodes: nodes.toSpliced(1, 0, added) }));
    expect(text).toBe(
      TEXT.replace("# the second", 'node between: log {\n  message = "new"\n}\n\n# the second'),
    );
  });

  test("follows the graph's order, comments going along", () => {
    const text = edited(flow("# a\nnode a: t\n# b\nnode b: t # bb\n"), ({ nodes }) => ({
      nodes: nodes.toReversed(),
    }));
    expect(text).toBe(flow("# b\nnode b: t # bb\n# a\nnode a: t\n"));
  });

  test("puts a new field behind its neighbour, and leaves the author's order alone", () => {
    const text = edited(flow("node a: t {\n  z = 1 # z\n  b = 2\n}\n"), ({ nodes }) => ({
      nodes: nodes.map((node) => ({ ...node, fields: { b: 2, n: 3, z: 1 } })),
    }));
    expect(text).toBe(flow("node a: t {\n  z = 1 # z\n  b = 2\n  n = 3\n}\n"));
  });

  test("matches elements of a list by value, then by place", () => {
    const text = edited(
      flow(
        'node a: t {\n  v = [\n    "x", # about x\n    # about y\n    "y",\n    { k: 1 }, # about k\n  ]\n}\n',
      ),
      ({ nodes }) => ({
        nodes: nodes.map((node) => ({ ...node, fields: { v: ["y", "new", { k: 2 }] } })),
      }),
    );
    expect(text).toBe(
      flow(
        'node a: t {\n  v = [\n    # about y\n    "y",\n    "new",\n    { k: 2 }, # about k\n  ]\n}\n',
      ),
    );
  });

  test("knows a renamed node, its edges and its place on the canvas", () => {
    const before = flow(
      '# kept\nnode pages: map {\n  body {\n    node get: t # got\n\n    get -> get\n  }\n}\n\npages -> pages # back\n\nlayout {\n  pages = [1, 2] # here\n  "pages/get" = [3, 4] # there\n}\n',
    );
    const text = edited(
      before,
      (graph) =>
        JSON.parse(
          JSON.stringify(graph)
            .replaceAll("pages", "files")
            .replaceAll('"get"', '"read"')
            .replaceAll("/get", "/read"),
        ) as FlowGraph,
      { pages: "files", "pages/get": "files/read" },
    );
    expect(text).toBe(
      before
        .replaceAll("pages", "files")
        .replaceAll("get -> get", "read -> read")
        .replaceAll("node get", "node read")
        .replaceAll("/get", "/read"),
    );
  });

  test("tells a node from one of the same name in an owner without a name", () => {
    const before = flow(
      'node "": map {\n  body {\n    node a: t # inner\n  }\n}\n\nnode a: t # outer\n',
    );
    const text = edited(
      before,
      (graph) => ({
        nodes: graph.nodes.map((one) => (one.id === "a" ? { ...one, id: "b" } : one)),
      }),
      { a: "b" },
    );
    expect(text).toBe(before.replace("node a: t # outer", "node b: t # outer"));
  });

  test("keeps what never was in the graph", () => {
    const before = flow("node a: t\n\n# of a later version\nmacro m {\n  v = 1\n}\n");
    expect(edited(before, () => ({ nodes: [] }))).toBe(
      flow("# of a later version\nmacro m {\n  v = 1\n}\n"),
    );
  });

  test("keeps a type that is none, and the schema that it hides, until the graph has another", () => {
    const before = flow('input a: strng = b {\n  schema = { type: "string", minLength: 1 }\n}\n');
    const set = (about: object) => (graph: FlowGraph) => ({
      inputs: graph.inputs.map((input) => ({ ...input, ...about })),
    });
    expect(edited(before, () => ({}))).toBe(before);
    expect(edited(before, set({ schema: { type: "string" } }))).toBe(
      before.replace("strng", "string"),
    );
    expect(edited(before, set({ schema: { minLength: 2 }, default: 1 }))).toBe(
      flow("input a = 1 {\n  schema = { minLength: 2 }\n}\n"),
    );
    const typed = before.replace("strng", "string");
    const bare = (graph: FlowGraph) => ({ inputs: graph.inputs.map(({ name }) => ({ name })) });
    expect(edited(typed, bare)).toBe(flow("input a = b\n"));
  });

  test("what is set twice goes as a whole, and what could not be read makes room", () => {
    const twice = flow("node a: t {\n  v = 1\n  v = 2\n  @join = {} # no\n}\n");
    expect(edited(twice, () => ({}))).toBe(twice);
    const without = (about: object) => (graph: FlowGraph) => ({
      nodes: graph.nodes.map((one) => ({ ...one, fields: {}, ...about })),
    });
    expect(edited(twice, without({ policy: { join: "any" } }))).toBe(
      flow('node a: t {\n  @join = "any" # no\n}\n'),
    );
    const bodies = flow("node a: map {\n  body b\n  body {\n    node c: t\n  }\n}\n");
    const { graph } = parseFlow(bodies);
    expect(parseFlow(edited(bodies, () => ({}))).graph).toEqual(graph);
    const layouts = flow("layout {\n  a = [1, 2]\n}\n\nlayout {\n  b = [3, 4]\n}\n");
    expect(edited(layouts, () => ({ layout: {} }))).toBe("flow 1 x\n");
  });

  test("does not take a node without a name for one of the empty name", () => {
    const before = flow('node: t\n\nnode "": t\n');
    const { nodes } = parseFlow(before).graph;
    expect(nodes).toEqual([{ id: "", type: "t", fields: {} }]);
    expect(parseFlow(edited(before, () => ({}))).graph.nodes).toEqual(nodes);
    expect(parseFlow(edited(before, () => ({ nodes: [] }))).graph.nodes).toEqual([]);
  });

  test("keeps the name and value that a body cannot have, so that they do not become an attribute", () => {
    const before = flow("node m: map {\n  body odd = 1 {\n    node a: t\n  }\n}\n");
    const { document, graph } = parseFlow(before);
    expect(graph.nodes[0]?.body?.nodes).toHaveLength(1);
    expect(parseFlow(printFlow(reconcile(document, graph))).graph).toEqual(graph);
    const alone = flow("node m: map {\n  body odd = 1\n}\n");
    const { graph: empty } = parseFlow(alone);
    expect(edited(alone, () => ({}))).toBe(alone);
    expect(empty.nodes[0]?.fields).toEqual({});
  });

  test("turns a schema into a type and back as the graph says", () => {
    const before = flow("# rate\ninput a: number = 1 # r\n");
    const schema = { type: "number", minimum: 0 };
    const typed = edited(before, ({ inputs }) => ({
      inputs: inputs.map((i) => ({ ...i, schema })),
    }));
    expect(typed).toBe(
      flow('# rate\ninput a = 1 {\n  schema = { type: "number", minimum: 0 }\n} # r\n'),
    );
    expect(
      edited(typed, ({ inputs }) => ({
        inputs: inputs.map((i) => ({ ...i, schema: { type: "number" } })),
      })),
    ).toBe(before);
  });

  test("leaves comments at the head of a section, parted from its items, where they are", () => {
    const before = flow(
      "# ---- steps ----\n\n# the first\nnode a: t {\n  # what it does\n\n  v = 1\n}\n\n# the second\nnode b: t\n",
    );
    const [a, b] = parseFlow(before).graph.nodes as [FlowNode, FlowNode];
    const added = { id: "n", type: "t", fields: {} };
    expect(edited(before, () => ({ nodes: [added, a, b] }))).toBe(
      before.replace("# the first", "node n: t\n\n# the first"),
    );
    expect(edited(before, () => ({ nodes: [b, a] }))).toBe(
      flow(
        "# ---- steps ----\n\n# the second\nnode b: t\n\n# the first\nnode a: t {\n  # what it does\n\n  v = 1\n}\n",
      ),
    );
    expect(edited(before, () => ({ nodes: [{ ...a, fields: { u: 0, v: 1 } }, b] }))).toBe(
      before.replace("  v = 1", "  u = 0\n\n  v = 1"),
    );
  });

  test("leaves comments at the head of a section there when every item of it is another", () => {
    const before = flow(
      "# ---- steps ----\n\n# the first\nnode a: t\n\n# ---- order ----\n\na -> a\n\n# end\n",
    );
    const renamed = [{ id: "b", type: "t", fields: {} }];
    expect(edited(before, () => ({ nodes: renamed, edges: [] }))).toBe(
      flow("# ---- steps ----\n\nnode b: t\n\n# ---- order ----\n\n# end\n"),
    );
    const edges = [{ from: "b", port: "out", to: "b" }];
    expect(edited(before, () => ({ nodes: renamed, edges }))).toBe(
      flow("# ---- steps ----\n\nnode b: t\n\n# ---- order ----\n\nb -> b\n\n# end\n"),
    );
    expect(edited(before, () => ({ nodes: [], edges: [] }))).toBe(
      flow("# ---- steps ----\n\n# ---- order ----\n\n# end\n"),
    );
  });

  test("leaves comments at the head of a list or object where they are", () => {
    const before = node("[\n    # all of them\n\n    # one\n    1,\n    2,\n  ]");
    const set = (v: FieldValue) => (graph: FlowGraph) => ({
      nodes: graph.nodes.map((one) => ({ ...one, fields: { v } })),
    });
    expect(edited(before, set([0, 1, 2]))).toBe(before.replace("    # one", "    0,\n\n    # one"));
    const object = node("{\n    # all of them\n\n    b: 1,\n  }");
    expect(edited(object, set({ a: 0, b: 1 }))).toBe(object.replace("b: 1", "a: 0,\n\n    b: 1"));
  });

  test("keeps paragraphs of comments apart when all between them goes", () => {
    const before = flow("# one\n\nnode a: t\n\n# two\n\na -> a\n\n# end\n");
    expect(edited(before, () => ({ nodes: [], edges: [] }))).toBe(
      flow("# one\n\n# two\n\n# end\n"),
    );
  });

  test("refuses what is no graph", () => {
    const { document } = parseFlow("flow 1 x\n");
    expect(() => reconcile(document, { version: 1 } as FlowGraph)).toThrow(DslError);
  });
});
