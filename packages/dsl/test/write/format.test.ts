// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { formatFlow, parseExpression, parseFlow, printExpression } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { flow, node } from "../read/cases.ts";

const format = (text: string): string => formatFlow(text).text;

describe("formatting", () => {
  test("orders sections and, in a node, fields, policies and body", () => {
    const text = flow(
      'layout { a = [0, 0] }\na -> a\noutput o = a.v\nnode a: map { @when = true\nbody { output = item\nnode b: t }\n@timeout = 1s\nitems = [] }\ninput i: int\nschedule s { timezone = "UTC"\nevery = 1m }\n',
    );
    expect(format(text)).toBe(
      flow(`input i: int

schedule s {
  every = 1m
  timezone = "UTC"
}

node a: map {
  items = []
  @timeout = 1s
  @when = true
  body {
    node b: t

    output = item
  }
}

a -> a

output o = a.v

layout {
  a = [0, 0]
}
`),
    );
  });

  test("makes a chain its edges; the first keeps the comments before, the last the one behind", () => {
    expect(format(flow('# way\na -> b.x -> c { label: "l" } # end\n'))).toBe(
      flow('# way\na -> b { label: "l" }\nb.x -> c { label: "l" } # end\n'),
    );
  });

  test("leaves alone what is set twice: the second would count instead", () => {
    const text = flow(
      'input i {\n  schema = 1\n  schema = { type: "string" }\n}\n\nconnection c: oauth {\n  slug = "c"\n  slug = "d"\n}\n',
    );
    expect(format(text)).toBe(text);
    expect(parseFlow(text).graph).toMatchObject({
      inputs: [{ name: "i" }],
      connections: [{ name: "c", auth: "oauth" }],
    });
  });

  test.each([
    ["input d= 0\n", "input d = 0\n"],
    ["output d= 0\n", "output d = 0\n"],
    ["schedule d{\n  every = 1m\n}\n", "schedule d {\n  every = 1m\n}\n"],
    ["input d# c\n", "input d # c\n"],
  ])("writes the blank that is missing behind the name of %j", (text, canonical) => {
    expect(format(flow(text))).toBe(flow(canonical));
  });

  test("keeps one empty line where the author had some, and none at the start of a block", () => {
    expect(
      format(
        flow("node a: t {\n\n\n  v = 1\n\n\n\n  w = 2\n\n}\n\n\n\na -> b\n\n\nb -> c\nc -> d\n"),
      ),
    ).toBe(flow("node a: t {\n  v = 1\n\n  w = 2\n}\n\na -> b\n\nb -> c\nc -> d\n"));
  });

  test("keeps every comment near what it is about", () => {
    const text = flow(`node a: t { # at the brace
  # before v
  v = [ # at the bracket
    1, # one
    # before two
    2 # two
    # foot of the list
  ] # behind v
  w = f( # in a call
    x)
  # foot of a
} # behind a
# foot of the file
`);
    expect(format(text)).toBe(
      flow(`node a: t {
  # at the brace
  # before v
  v = [
    # at the bracket
    1, # one
    # before two
    2, # two
    # foot of the list
  ] # behind v
  # in a call
  w = f(x)
  # foot of a
} # behind a

# foot of the file
`),
    );
  });

  test("leaves a text that it cannot read whole as it is", () => {
    const text = node("1 +");
    expect(formatFlow(text)).toMatchObject({
      text,
      changed: false,
      diagnostics: [{ code: "FLOW1006" }],
    });
  });

  test("keeps the empty line behind comments at the head of a list", () => {
    const text = node("[\n    # all of them\n\n    # one\n\n    1,\n  ]");
    expect(format(text)).toBe(text);
    expect(format(text.replace("\n    # one\n", ""))).toBe(text.replace("\n    # one\n", ""));
  });

  test.each(["f(x)(y)", "a[0](1)", "[1, f(x)(y)]", 'a."o words"()', "a.true(1)", "a.in()"])(
    "leaves a text with %j, a call that it cannot read, as it is",
    (value) => {
      const text = node(value);
      const { diagnostics, ...formatted } = formatFlow(text);
      expect(formatted).toEqual({ text, changed: false });
      expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW5003"]);
    },
  );

  test.each([
    "nodes {}",
    "edge a {}",
    "node a: t {\n  false null {}\n}",
    "node a: map {\n  body {\n    nodes {}\n  }\n}",
  ])("keeps the empty braces of what is no block, %j, which could not be read without", (item) => {
    const text = flow(`${item}\n`);
    const { diagnostics, ...formatted } = formatFlow(text.replaceAll("{}", "{\n\n}"));
    expect(formatted).toEqual({ text, changed: true });
    expect(diagnostics.map(({ code }) => code)).toEqual(["FLOW2003"]);
    expect(formatFlow(text).diagnostics.map(({ code }) => code)).toEqual(["FLOW2003"]);
  });

  test("formats a text with mistakes of meaning", () => {
    expect(format(flow("node a:t\nnode a :t\n"))).toBe(flow("node a: t\nnode a: t\n"));
  });

  test("mends slips for good", () => {
    const text =
      "```flow\nflow 1 x\n// note\nnode a: t {\n  v: 'it';\n  w = ${a.b} and not None\n}\na => b\n```\n";
    expect(format(text)).toBe(
      'flow 1 x\n\n# note\nnode a: t {\n  v = "it"\n  w = a.b && !null\n}\n\na -> b\n',
    );
    expect(formatFlow(format(text)).diagnostics).toEqual([]);
  });

  test("prints nothing for nothing", () => {
    expect(format("")).toBe("");
    expect(format("\n\n")).toBe("");
    expect(format("# alone")).toBe("# alone\n");
  });
});

describe("expressions", () => {
  test.each([
    ["a?.b[ 1 ].c", "a?.b[1].c"],
    ["f( a , b, )", "f(a, b)"],
    ["((a)) + (b * c)", "a + b * c"],
    ["a\n  + b", "a + b"],
    ["{ a : 1 , 'b' = [ ] }", "{ a: 1, b: [] }"],
    ["a ?? b ?? c", "a ?? b ?? c"],
    ["a ?? (b ?? c)", "a ?? (b ?? c)"],
    ["(a == b) == c", "a == b == c"],
    ["--1", "--1"],
    ["- - a", "--a"],
    ["!(!a)", "!!a"],
    ["-(a.b)", "-a.b"],
    ["-(1)", "-1"],
    ["(a ? b : c).d", "(a ? b : c).d"],
    ["a ? b : c ? d : e", "a ? b : c ? d : e"],
    ['"x\\${y} ${"z"}"', '"x\\${y} ${"z"}"'],
    ["in1 in [1]", "in1 in [1]"],
    ["None.value", "None.value"],
    ["not.x && not in y", "not.x && not in y"],
  ])("%j prints as %j, and that prints as itself", (source, canonical) => {
    const { ast } = parseExpression(source);
    expect(ast && printExpression(ast)).toBe(canonical);
    const again = parseExpression(canonical);
    expect(again.diagnostics).toEqual([]);
    expect(again.ast && printExpression(again.ast)).toBe(canonical);
  });

  test.each(["", "a b", "a +", "(a", "1 +* 2", "f(,)", "a.", "{ a }", "in", "a[0](1)", '"${', "§"])(
    "%j is refused without a tree",
    (source) => {
      const { ast, diagnostics } = parseExpression(source);
      expect(ast).toBeUndefined();
      expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
    },
  );

  test("know where they stand in their source", () => {
    expect(parseExpression("a + f(bc)").ast).toEqual({
      kind: "binary",
      op: "+",
      left: { kind: "name", name: "a", start: 0, end: 1 },
      right: {
        kind: "call",
        name: "f",
        args: [{ kind: "name", name: "bc", start: 6, end: 8 }],
        start: 4,
        end: 9,
      },
      start: 0,
      end: 9,
    });
  });

  test("a flow of no more than its header is a graph", () => {
    expect(parseFlow("flow 1 x")).toMatchObject({ ok: true, graph: { version: 1, id: "x" } });
  });
});
