/** The edges that references imply. */
import { impliedEdges, parseFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { asFlow } from "./check.ts";

/** `from ~> to at pointer`, one a line. */
function edgesOf(text: string): string[] {
  return impliedEdges(parseFlow(asFlow(text)).graph).map(
    ({ from, to, pointer }) => `${from} ~> ${to} at ${pointer}`,
  );
}

test("a reader waits once for each node that it reads, wherever the reads stand", () => {
  expect(
    edgesOf(`
node a: transform { value = 1 }
node b: log {
  message = "\${a.value} and \${a.value}"
  data = { list: [nodes["a"].value, a?.value ?? 0] }
  @when = a.value > 0
}
`),
  ).toEqual(["a ~> b at /nodes/1/fields/message/$t/0"]);
});

test("policies read, too", () => {
  expect(
    edgesOf(`
node a: transform { value = 1 }
node b: log {
  message = "late"
  @retry = { max: 1, if: output == a.value }
  @on-error = { default: a.value }
  @when = a.value > 0
}
`),
  ).toEqual(["a ~> b at /nodes/1/policy/when"]);
});

test("a read from a body names the reader by its path, and the body's own nodes are its own", () => {
  expect(
    edgesOf(`
node a: transform { value = 1 }
node all: map {
  items = [1]
  body {
    node one: transform { value = item + a.value }
    node two: transform { value = one.value + index }

    output = two.value + a.value
  }
}
`),
  ).toEqual([
    "a ~> all at /nodes/1/body/output",
    "a ~> all/one at /nodes/1/body/nodes/0/fields/value",
    "all/one ~> all/two at /nodes/1/body/nodes/1/fields/value",
  ]);
});

test("the nearest body wins, and a local hides a node", () => {
  expect(
    edgesOf(`
node row: transform { value = 1 }
node x: transform { value = 2 }
node all: map {
  items = [1]
  as = "row"
  body {
    node x: transform { value = row }
    node y: transform { value = x.value + nodes["row"].value }
  }
}
`),
  ).toEqual([
    "all/x ~> all/y at /nodes/2/body/nodes/1/fields/value",
    "row ~> all/y at /nodes/2/body/nodes/1/fields/value",
  ]);
});

test("roots of a deferred field are no nodes, though others in it are", () => {
  expect(
    edgesOf(`
node output: transform { value = 1 }
node limit: transform { value = 1 }
node state: transform { value = 1 }
node ask: ai {
  input = output.value
  expect = [size(output) > limit.value]
}
node poll: loop {
  until = state.n > limit.value
  max = 3
  body {
    output = { n: index }
  }
}
`),
  ).toEqual([
    "output ~> ask at /nodes/3/fields/input",
    "limit ~> ask at /nodes/3/fields/expect/0",
    "limit ~> poll at /nodes/4/fields/until",
  ]);
});

test("macro variables and protected data are no reads", () => {
  expect(
    edgesOf(`
node a: transform { value = [1] }
node b: transform {
  value = { list: map([1], a, a + 1), data: { "$": "a.value" } }
}
`),
  ).toEqual([]);
});
