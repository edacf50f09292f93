// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { parseFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { flow, node } from "./cases.ts";
import { rowsOf } from "./report.ts";

const brief = (text: string): string[] =>
  rowsOf(text).map(({ code, at, message }) => `${code} ${at.split("-")[0]} ${message}`);

describe("several errors in one pass", () => {
  const text = `flow 1 faults {
  title =
}

input a string = "b"

node list: t {
  v = [1, 2
  w = 3
}

node group: t {
  v = (1 + 2
  w = 3
}

node quote: t {
  v = "abc
  w = 1
}

node number: t {
  v = 01
}

node header t {
  v = 1
}

node open: t {
  v = 1

node call: t {
  v = f(1, 2
}

node good: t {
  v = 1
}
`;

  test("nine faults give nine diagnostics, each where the fault is", () => {
    expect(brief(text)).toEqual([
      "FLOW1006 2:10 expected a value, found line end",
      "FLOW1006 5:9 expected `:`, found string",
      "FLOW1006 8:12 expected `,` or `]`, found line end",
      "FLOW1006 13:13 expected `)`, found line end",
      "FLOW1003 18:7 string is not closed on its line",
      "FLOW1010 23:7 not a number: 01",
      "FLOW1006 26:13 expected `:`, found t",
      "FLOW1016 30:14 `{` is not closed",
      "FLOW1006 34:13 expected `,` or `)`, found line end",
    ]);
  });

  test("everything else is in the graph", () => {
    const { graph } = parseFlow(text);
    expect(graph.nodes.map(({ id, fields }) => [id, fields])).toEqual([
      ["list", { w: 3 }],
      ["group", { w: 3 }],
      ["quote", { v: "abc", w: 1 }],
      ["number", { v: 1 }],
      ["header", { v: 1 }],
      ["open", { v: 1 }],
      ["call", {}],
      ["good", { v: 1 }],
    ]);
  });
});

describe("a bad element", () => {
  test.each([
    ["[1, 2 {}, 4]", [1, 4], "FLOW1006 4:13 expected `,` or `]`, found {"],
    ["{ a: 1, b: , c: 3 }", { a: 1, c: 3 }, "FLOW1006 4:18 expected a value, found ,"],
    ["{ a: 1, b 2, c: 3 }", { a: 1, c: 3 }, "FLOW1006 4:17 expected `:`, found 2"],
    ["[\n    1,\n    2 +,\n    3,\n  ]", [1, 3], "FLOW1006 6:8 expected a value, found ,"],
    ['["a", §, "b"]', ["a", "b"], "FLOW1001 4:13 unexpected §"],
    ["[[1, ], [2 {}], [3]]", [[1], [], [3]], "FLOW1006 4:18 expected `,` or `]`, found {"],
  ])("of %s is dropped alone", (value, left, message) => {
    const text = node(value);
    expect(parseFlow(text).graph.nodes[0]?.fields).toEqual({ v: left });
    expect(brief(text)).toEqual([message]);
  });
});

describe("a block without its brace", () => {
  test("is closed where indentation says, however deep it stands", () => {
    const text = flow(
      "node m: map {\n  body {\n    node a: t {\n      v = 1\n    node b: t\n    a -> b\n  }\n}\n\nnode c: t\n",
    );
    expect(brief(text)).toEqual(["FLOW1016 5:15 `{` is not closed"]);
    const { graph } = parseFlow(text);
    expect(graph.nodes.map(({ id }) => id)).toEqual(["m", "c"]);
    expect(graph.nodes[0]?.body?.nodes.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(graph.nodes[0]?.body?.edges).toEqual([{ from: "a", port: "out", to: "b" }]);
  });

  test("is found although another brace too many makes the numbers match", () => {
    const text = flow("node a: t {\n  v = 1\n\nnode b: t {\n  v = 2\n}\n}\n\nnode c: t\n");
    expect(brief(text)).toEqual(["FLOW1016 3:11 `{` is not closed", "FLOW1017 9:1 stray }"]);
    expect(parseFlow(text).graph.nodes.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("that nothing indents still gives one diagnostic, and what follows is read", () => {
    const text = "flow 1 x\nnode a: t {\nv = 1\n}\n}\nnode b: t\n";
    expect(brief(text)).toEqual(["FLOW1017 5:1 stray }"]);
    expect(parseFlow(text).graph.nodes.map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

test("a block string that never ends takes the rest of the file, and is the only error", () => {
  const text = flow('node a: t {\n  v = """\n    one\n}\n\nnode b: t\n');
  expect(brief(text)).toEqual(["FLOW1004 4:7 block is not closed"]);
  expect(parseFlow(text).graph.nodes).toEqual([
    { id: "a", type: "t", fields: { v: "    one\n}\n\nnode b: t\n" } },
  ]);
});

test("after a hundred errors the rest is not read", () => {
  const text = `flow 1 x\n${"v = \n".repeat(200)}node late: t\n`;
  const { diagnostics, graph, ok } = parseFlow(text);
  expect(ok).toBe(false);
  expect(diagnostics).toHaveLength(101);
  expect(diagnostics.at(-1)).toMatchObject({
    code: "FLOW1099",
    message: "more than 100 errors; the rest was not read",
  });
  expect(graph.nodes).toEqual([]);
  expect(parseFlow(text, { maxErrors: 3 }).diagnostics.map(({ code }) => code)).toEqual([
    ...Array.from({ length: 3 }, () => "FLOW1006"),
    "FLOW1099",
  ]);
});

test("a text that is too long is not read at all", () => {
  const { graph, diagnostics } = parseFlow("flow 1 x\n", { maxLength: 5 });
  expect(diagnostics.map(({ message, hint }) => [message, hint])).toEqual([
    ["text is longer than 5 characters", "nothing was read"],
  ]);
  expect(graph).toMatchObject({ id: "", nodes: [] });
});

describe("bytes", () => {
  test("are decoded, and a byte order mark at the start is none of the text's business", () => {
    const bytes = new TextEncoder().encode('\ufeffflow 1 "é"\r\nnode a: t\r\n');
    expect(parseFlow(bytes)).toMatchObject({ ok: true, graph: { id: "é", nodes: [{ id: "a" }] } });
  });

  test.each([
    [[0xff], 0],
    [[0xc3, 0x28], 0],
    [[0xed, 0xa0, 0x80], 0],
    [[0xf0, 0x9f, 0x98], 0],
    [[0xc3, 0xa9, 0xc0, 0x80], 2],
  ])("that are no UTF-8 (%j) are told by their place", (bad, offset) => {
    const head = new TextEncoder().encode("flow 1 x\n# é ");
    const bytes = new Uint8Array([...head, ...bad, 10]);
    expect(rowsOf(bytes)).toEqual([
      {
        code: "FLOW0001",
        severity: "error",
        at: expect.stringMatching(/^2:/),
        message: `file is not valid UTF-8 at byte ${head.length + offset}`,
        hint: "save it as UTF-8",
      },
    ]);
  });

  test.each(["le", "be"])("that are UTF-16 (%s) are told once", (order) => {
    const bytes = Buffer.from("\ufeffflow 1 x\n\nnode a: t {\n  b = 1\n}\n", "utf16le");
    const rows = rowsOf(order === "le" ? bytes : bytes.swap16());
    expect(rows.map(({ code, at }) => [code, at])).toEqual([["FLOW0001", "1:1-1:2"]]);
  });
});

test("an edge that is written twice is found with its first place, however many edges its node has", () => {
  for (const count of [1, 7, 8, 9, 30]) {
    const edges = Array.from({ length: count }, (_, i) => `a.p${i % 3} -> n${i}\n`).join("");
    const twice = rowsOf(`flow 1 f\n\n${edges}${edges}`).filter(({ code }) => code === "FLOW2006");
    expect(twice.map(({ related }) => related?.[0]?.split(" ")[0])).toEqual(
      Array.from({ length: count }, (_, i) => expect.stringMatching(new RegExp(`^${i + 3}:1-`))),
    );
  }
});
