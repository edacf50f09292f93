/** Edges, cycles, presence. */

import type { CatalogFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { catalogOf } from "../fixtures/catalog.ts";
import { codes, mended, report } from "./check.ts";

/** Stored flows of these tests. */
const CALLS: { readonly [slug: string]: CatalogFlow } = {
  "load-rows": { inputs: [], outputs: [], flows: ["rows"] },
  rows: {
    inputs: [{ name: "limit", schema: { type: "integer" } }],
    outputs: [],
    flows: ["example@2"],
  },
};

test("an edge to an unknown node is named, and the fix writes the near one", () => {
  const text = `
node fetch: join
node save: join

fetch -> svae
`;

  expect(report(text, "FLOW4001")).toMatchInlineSnapshot(`
    "error: edge names the unknown node svae
    at 7:10 to 7:14 "svae"
    place /edges/0/to
    hint: did you mean save?
    fix: write save"
  `);

  expect(mended(text, "FLOW4001")).toMatchInlineSnapshot(`
    "
    node fetch: join
    node save: join

    fetch -> save
    "
  `);
});

test("an unknown port is named with the ports that are there", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}

late.treu -> mail
`;

  expect(report(text, "FLOW4002")).toMatchInlineSnapshot(`
    "error: late (condition) has no port treu
    at 13:5 to 13:10 ".treu"
    place /edges/0/port
    hint: ports: true, false, error
    fix: write true"
  `);

  expect(mended(text, "FLOW4002")).toMatchInlineSnapshot(`
    "
    input n: int

    node late: condition {
      if = inputs.n > 1
    }
    node mail: transform {
      value = 1
    }

    late.true -> mail
    "
  `);
});

test("the cases of a switch are ports", () => {
  const text = `
input kind: string

node a: switch {
  on = inputs.kind
  cases = { bug: "bug" }
}
node b: join

a.bug -> b
a.spam -> b
`;

  expect(report(text, "FLOW4002")).toMatchInlineSnapshot(`
    "error: a (switch) has no port spam
    at 13:2 to 13:7 ".spam"
    place /edges/1/port
    hint: ports: default, error, bug"
  `);
});

test("computed cases may be any port", () => {
  const text = `
input kinds: object

node a: switch {
  on = 1
  cases = inputs.kinds
}
node b: join

a.bug -> b
`;

  expect(codes(text)).not.toContain("FLOW4002");
});

test("a cycle of edges is shown with its path", () => {
  const text = `
node a: join
node b: join
node c: join

a -> b
b -> c
c -> a
`;

  expect(report(text, "FLOW4003")).toMatchInlineSnapshot(`
    "error: cycle: a -> b -> c -> a
    at 10:1 to 10:7 "c -> a"
    place /edges/2
    hint: use a \`loop\` node"
  `);
});

test("a cycle through a reference is shown with `~>`", () => {
  const text = `
node a: transform {
  value = b.value
}
node b: transform {
  value = 1
}

a -> b
`;

  expect(report(text, "FLOW4003")).toMatchInlineSnapshot(`
    "error: cycle: a -> b ~> a
    at 5:11 to 5:18 "b.value"
    place /nodes/0/fields/value
    hint: use a \`loop\` node"
  `);
});

test("a node that reads itself is a cycle", () => {
  const text = `
node a: transform {
  value = a.value
}
`;

  expect(report(text, "FLOW4003")).toMatchInlineSnapshot(`
    "error: cycle: a ~> a
    at 5:11 to 5:18 "a.value"
    place /nodes/0/fields/value
    hint: use a \`loop\` node"
  `);
});

test("a node of a body that reads its owner is a cycle", () => {
  const text = `
node all: map {
  items = [1]
  body {
    node one: transform {
      value = all.items
    }
  }
}
`;

  expect(report(text, "FLOW4003")).toMatchInlineSnapshot(`
    "error: cycle: all ~> all
    at 8:15 to 8:24 "all.items"
    place /nodes/0/body/nodes/0/fields/value
    hint: use a \`loop\` node"
  `);
});

test("a long cycle shows ten steps", () => {
  const text = `
node n0: join
node n1: join
node n2: join
node n3: join
node n4: join
node n5: join
node n6: join
node n7: join
node n8: join
node n9: join
node n10: join
node n11: join
node n12: join
node n13: join

n0 -> n1
n1 -> n2
n2 -> n3
n3 -> n4
n4 -> n5
n5 -> n6
n6 -> n7
n7 -> n8
n8 -> n9
n9 -> n10
n10 -> n11
n11 -> n12
n12 -> n13
n13 -> n0
`;

  expect(report(text, "FLOW4003")).toMatchInlineSnapshot(`
    "error: cycle: n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> n10 -> …
    at 32:1 to 32:10 "n13 -> n0"
    place /edges/13
    hint: use a \`loop\` node"
  `);
});

test("a node behind a node that never runs is named", () => {
  const text = `
node a: transform {
  value = 1
  @when = false
}
node b: join
node c: join

a -> b
b -> c
`;

  expect(report(text, "FLOW4004")).toMatchInlineSnapshot(`
    "warning: b can never run: nothing leads to it that is live
    at 8:6 to 8:7 "b"
    place /nodes/1/id
    warning: c can never run: nothing leads to it that is live
    at 9:6 to 9:7 "c"
    place /nodes/2/id"
  `);
});

test("a node behind the dead side of a literal condition is named", () => {
  const text = `
node a: condition {
  if = true
}
node b: transform {
  value = 1
}
node c: transform {
  value = 2
}

a.true -> b
a.false -> c
`;

  expect(report(text, "FLOW4004")).toMatchInlineSnapshot(`
    "warning: c can never run: nothing leads to it that is live
    at 10:6 to 10:7 "c"
    place /nodes/2/id"
  `);
});

test("a node of another body is not visible", () => {
  const text = `
node all: map {
  items = [1]
  body {
    node one: transform {
      value = item
    }

    output = one.value
  }
}

output last = one.value
`;

  expect(report(text, "FLOW4005")).toMatchInlineSnapshot(`
    "error: one is not visible here: it lives in the body of all
    at 15:15 to 15:18 "one"
    place /outputs/0/value
    hint: read \`all.items\` or \`.state\`"
  `);
});

test("a read of a node behind a condition is named, and the fix makes it optional", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}
node note: transform {
  value = mail.value
}

late.true -> mail
`;

  expect(report(text, "FLOW4006")).toMatchInlineSnapshot(`
    "warning: mail may be skipped; then this node is skipped too
    at 13:11 to 13:15 "mail"
    place /nodes/2/fields/value
    hint: read it as \`mail?.…\`
    fix: read it with \`?.\`"
  `);

  expect(mended(text, "FLOW4006")).toMatchInlineSnapshot(`
    "
    input n: int

    node late: condition {
      if = inputs.n > 1
    }
    node mail: transform {
      value = 1
    }
    node note: transform {
      value = mail?.value
    }

    late.true -> mail
    "
  `);
});

test("a read behind the same exit is fine", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}
node note: transform {
  value = mail.value
}

late.true -> mail
late.true -> note
`;

  expect(codes(text)).not.toContain("FLOW4006");
});

test("a read behind the node itself is fine", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}
node note: transform {
  value = mail.value
}

late.true -> mail
mail -> note
`;

  expect(codes(text)).not.toContain("FLOW4006");
});

test("a read from a body counts as the owner's", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}
node all: map {
  items = [1]
  body {
    output = mail.value
  }
}

late.true -> mail
`;

  expect(report(text, "FLOW4006")).toMatchInlineSnapshot(`
    "warning: mail may be skipped; then this node is skipped too
    at 15:14 to 15:18 "mail"
    place /nodes/2/body/output
    hint: read it as \`mail?.…\`
    fix: read it with \`?.\`"
  `);
});

test("an error is there behind the error exit only", () => {
  const text = `
node a: file.read {
  path = "a.txt"
}
node b: log {
  message = a.error.message
}
node c: log {
  message = a.error.message
}

a.error -> b
a -> c
`;

  expect(report(text, "FLOW4006")).toMatchInlineSnapshot(`
    "warning: a may be skipped; then this node is skipped too
    at 11:13 to 11:14 "a"
    place /nodes/2/fields/message
    hint: read it as \`a?.…\`
    fix: read it with \`?.\`"
  `);
});

test("a join of all brings every branch along", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}
node other: transform {
  value = 2
}
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

test("an expression of another type than the field is named", () => {
  const text = `
input n: int

node a: log {
  message = inputs.n
}
`;

  expect(report(text, "FLOW4007")).toMatchInlineSnapshot(`
    "error: message takes string, inputs.n is int
    at 7:13 to 7:21 "inputs.n"
    place /nodes/0/fields/message"
  `);
});

test("text with holes is a string", () => {
  const text = `
input n: int

node a: http.request {
  url = "https://shop.example"
  redirects = "\${inputs.n}"
}
`;

  expect(report(text, "FLOW4007")).toMatchInlineSnapshot(`
    "error: redirects takes int, text with holes is string
    at 8:15 to 8:28 "\\"\${inputs.n}\\""
    place /nodes/0/fields/redirects"
  `);
});

test("an expression inside a field is checked against the member's type", () => {
  const text = `
input n: int

node a: http.request {
  url = "https://shop.example"
  headers = { Via: inputs.n }
}
`;

  expect(report(text, "FLOW4007")).toMatchInlineSnapshot(`
    "error: headers.Via takes string, inputs.n is int
    at 8:20 to 8:28 "inputs.n"
    place /nodes/0/fields/headers/Via"
  `);
});

test("an output of another type than it says is named", () => {
  const text = `
input n: int

output x: string = inputs.n
`;

  expect(report(text, "FLOW4007")).toMatchInlineSnapshot(`
    "error: output x takes string, inputs.n is int
    at 6:20 to 6:28 "inputs.n"
    place /outputs/0/value"
  `);
});

test("a join of one edge is named", () => {
  const text = `
node a: transform {
  value = 1
}
node b: join

a -> b
`;

  expect(report(text, "FLOW4008")).toMatchInlineSnapshot(`
    "warning: join with fewer than two incoming edges
    at 7:6 to 7:7 "b"
    place /nodes/1/id"
  `);
});

test("a join that waits for more than can come is named", () => {
  const text = `
node a: transform {
  value = 1
}
node b: transform {
  value = 1
  @join = 2
}

a -> b
`;

  expect(report(text, "FLOW4008")).toMatchInlineSnapshot(`
    "warning: @join 2 of 1
    at 9:11 to 9:12 "2"
    place /nodes/1/policy/join"
  `);
});

test("a switch without an edge on default is told", () => {
  const text = `
input kind: string

node a: switch {
  on = inputs.kind
  cases = { bug: "bug" }
}
node b: log {
  message = "a bug"
}

a.bug -> b
`;

  expect(report(text, "FLOW4009")).toMatchInlineSnapshot(`
    "info: switch a has no edge on \`default\`: other values end here
    at 6:6 to 6:7 "a"
    place /nodes/0/id"
  `);
});

test("a flow that does not exist is named", () => {
  const text = `
node a: subflow {
  flow = "load-rows@3"
}
`;

  expect(report(text, "FLOW4010", catalogOf([], { flow: () => undefined }))).toMatchInlineSnapshot(`
    "error: flow load-rows does not exist
    at 5:10 to 5:23 "\\"load-rows@3\\""
    place /nodes/0/fields/flow"
  `);
});

test("a flow that calls itself through others is shown with the path", () => {
  const text = `
node a: subflow {
  flow = "load-rows@3"
}
`;

  expect(
    report(text, "FLOW4010", catalogOf([], { flow: (slug) => CALLS[slug] })),
  ).toMatchInlineSnapshot(`
    "error: flow example calls itself: example -> load-rows -> rows -> example
    at 5:10 to 5:23 "\\"load-rows@3\\""
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

test("an input that nobody reads is named", () => {
  const text = `
input a: int
input b: int

output x = inputs.b
`;

  expect(report(text, "FLOW4011")).toMatchInlineSnapshot(`
    "warning: input a is never read
    at 4:7 to 4:8 "a"
    place /inputs/0/name"
  `);
});

test("reading all inputs reads each", () => {
  const text = `
input a: int

output x = inputs
`;

  expect(codes(text)).not.toContain("FLOW4011");
});

test("an edge into a body is named", () => {
  const text = `
node start: join
node all: map {
  items = [1]
  body {
    node one: join
  }
}

start -> one
`;

  expect(report(text, "FLOW4012")).toMatchInlineSnapshot(`
    "error: edge goes into or out of a body
    at 12:10 to 12:13 "one"
    place /edges/0/to
    hint: connect the owner node"
  `);
});

test("an edge on error with another @on-error is named, and the fix makes it a port", () => {
  const text = `
node a: file.read {
  path = "a.txt"
  @on-error = { default: null }
}
node b: join

a.error -> b
`;

  expect(report(text, "FLOW4014")).toMatchInlineSnapshot(`
    "error: an edge leaves a.error but @on-error is default
    at 10:1 to 10:13 "a.error -> b"
    place /edges/0
    hint: remove one
    related 6:15 set here
    fix: write "port""
  `);

  expect(mended(text, "FLOW4014")).toMatchInlineSnapshot(`
    "
    node a: file.read {
      path = "a.txt"
      @on-error = "port"
    }
    node b: join

    a.error -> b
    "
  `);
});

test("an output of a node that may be skipped is named, and the fix makes it optional", () => {
  const text = `
input n: int

node late: condition {
  if = inputs.n > 1
}
node mail: transform {
  value = 1
}

late.true -> mail

output x = mail.value
`;

  expect(report(text, "FLOW4015")).toMatchInlineSnapshot(`
    "warning: flow output x is absent when mail is skipped
    at 15:12 to 15:16 "mail"
    place /outputs/0/value
    hint: read it as \`mail?.…\`
    fix: read it with \`?.\`"
  `);

  expect(mended(text, "FLOW4015")).toMatchInlineSnapshot(`
    "
    input n: int

    node late: condition {
      if = inputs.n > 1
    }
    node mail: transform {
      value = 1
    }

    late.true -> mail

    output x = mail?.value
    "
  `);
});

test("a confirmation without edges for its other answers is told", () => {
  const text = `
node ask: confirm {
  prompt = "Go on?"
  @timeout = 1h
}
node go: log {
  message = "on"
}

ask.approved -> go
`;

  expect(report(text, "FLOW4016")).toMatchInlineSnapshot(`
    "info: confirm ask has no edge on \`rejected\`
    at 4:6 to 4:9 "ask"
    place /nodes/0/id
    hint: such an answer fails the run (\`confirm_rejected\`; exit code 4)
    info: confirm ask has no edge on \`expired\`
    at 4:6 to 4:9 "ask"
    place /nodes/0/id
    hint: such an answer fails the run (\`confirm_expired\`; exit code 4)"
  `);
});
