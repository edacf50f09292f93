/** Edges, cycles, presence. */

import type { CatalogFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { catalogOf } from "../fixtures/catalog.ts";
import { codes, findings, report } from "./check.ts";

/** Stored flows of these tests. */
const CALLS: { readonly [slug: string]: CatalogFlow } = {
  "load-rows": { inputs: [], outputs: [], flows: ["rows"] },
  rows: {
    inputs: [{ name: "limit", schema: { type: "integer" } }],
    outputs: [],
    flows: ["example@2"],
  },
};

/** A node that runs on one exit of a condition alone. */
const LATE = `
input n: int

node late: condition { if = inputs.n > 1 }
node mail: transform { value = 1 }`;

test.each([
  ["the same exit", ["late.true -> mail", "late.true -> note"]],
  ["the node itself", ["late.true -> mail", "mail -> note"]],
])("a read behind %s is fine", (_, edges) => {
  const text = `${LATE}
node note: transform { value = mail.value }

${edges.join("\n")}
`;

  expect(codes(text)).not.toContain("FLOW4006");
});

test("what a cycle makes of nodes in it and behind it is one finding", () => {
  const text = `
node a: transform { value = b.value }
node b: transform { value = a.value }
node c: transform { value = b.value }

output in: any = a.value
output behind: any = c.value
`;

  expect(codes(text)).toEqual(["FLOW4003"]);
});

test("a join of all brings every branch along", () => {
  const text = `${LATE}
node other: transform { value = 2 }
node both: transform {
  value = mail.value + other.value
  @join = "all"
}

late.true -> mail
mail -> both
other -> both
`;

  expect(codes(text)).not.toContain("FLOW4006");
});

describe("outputs of a flow that is called", () => {
  const outputs = [
    { name: "total", schema: { type: "integer" }, value: 1 },
    { name: "rows", value: [] },
  ];
  const known = catalogOf([], {
    flow: (slug) => (slug === "sums" ? { inputs: [], outputs, flows: [] } : undefined),
  });
  const read = (source: string, flow = "sums") =>
    findings(
      `node sub: subflow { flow = "${flow}" }\nnode r: transform { value = ${source} }\n`,
      known,
    ).filter(({ code }) => code.startsWith("FLOW5"));

  test.each(["sub.outputs.total + 1", "size(sub.outputs.rows)", "sub.outputs"])(
    "%s is fine",
    (source) => {
      expect(read(source)).toEqual([]);
    },
  );

  test.each([
    ["sub.total", "sub.outputs.total"],
    ["sub?.total ?? 0", "sub?.outputs.total"],
    ['sub["total"]', "sub.outputs.total"],
  ])("%s is mended to where it stands", (source, meant) => {
    expect(read(source)).toMatchObject([
      {
        code: "FLOW5001",
        hint: "did you mean outputs.total?",
        fixes: [{ edits: [{ newText: meant }] }],
      },
    ]);
  });

  test("have the names and types that the flow declares, and of a version nothing is known", () => {
    expect(read("sub.outputs.sum").map(({ message }) => message)).toEqual([
      "object has no member sum",
    ]);
    expect(read("upper(sub.outputs.total)").map(({ code }) => code)).toEqual(["FLOW5002"]);
    expect(read("sub.outputs.sum", "sums@3")).toEqual([]);
  });
});

test("a flow that does not exist is named", () => {
  const text = `
node a: subflow { flow = "load-rows@3" }
`;

  expect(report(text, "FLOW4010", catalogOf([], { flow: () => undefined }))).toMatchInlineSnapshot(`
    "error: flow load-rows@3 does not exist
    at 4:26 to 4:39 "\\"load-rows@3\\""
    place /nodes/0/fields/flow"
  `);
});

test("a flow that calls itself through others is shown with the path", () => {
  const text = `
node a: subflow { flow = "load-rows@3" }
`;

  expect(
    report(text, "FLOW4010", catalogOf([], { flow: (slug) => CALLS[slug] })),
  ).toMatchInlineSnapshot(`
    "error: flow example calls itself: example -> load-rows -> rows -> example
    at 4:26 to 4:39 "\\"load-rows@3\\""
    place /nodes/0/fields/flow"
  `);
});

test("inputs of another flow are checked", () => {
  const text = `
node a: subflow {
  flow = "rows"
  inputs = { limt: 1 }
}
`;

  expect(
    report(text, "FLOW3002", catalogOf([], { flow: (slug) => CALLS[slug] })),
  ).toMatchInlineSnapshot(`
    "error: flow rows needs the field limit
    at 6:12 to 6:23 "{ limt: 1 }"
    place /nodes/0/fields/inputs"
  `);
});

test("reading all inputs reads each", () => {
  const text = `
input a: int

output x = inputs
`;

  expect(codes(text)).not.toContain("FLOW4011");
});

test("ports that come from a field of another shape are not missed, too", () => {
  const route = 'node s: switch {\n  on = "x"\n  cases = ["x", "y"]\n}\n\nnode b: join\n\n';
  expect(codes(`${route}s.x -> b\ns.default -> b\n`)).toEqual(["FLOW3004"]);
});
