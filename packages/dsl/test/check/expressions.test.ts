/** What expressions read, and of which types. */
import { expect, test } from "vitest";
import { report } from "./check.ts";

test("the element of a typed list has its type in the body", () => {
  const text = `
input rows: { name: string, size: int }[]

node all: map {
  items = inputs.rows
  as = "row"
  body {
    node say: log { message = row.size }
  }
}
`;
  expect(report(text, "FLOW4007")).toMatchInlineSnapshot(`
    "error: message takes string, row.size is int
    at 10:31 to 10:39 "row.size"
    place /nodes/0/body/nodes/0/fields/message"
  `);
});

test("a node whose id is a word of expressions is offered as it can be read", () => {
  const text = `
node in: log { message = "x" }

node say: log { message = string(inn.value) }
`;

  expect(report(text, "FLOW5001")).toContain('nodes["in"]');
});
