/** Style, only on request. */
import { expect, test } from "vitest";
import { mended, report } from "./check.ts";

test("a flow without nodes is told", () => {
  const text = `
output x = 1
`;

  expect(report(text, "FLOW9001")).toMatchInlineSnapshot(`
    "info: flow has no nodes
    at 1:1 to 5:1 "flow 1 example"
    place (the flow)"
  `);
});

test("a form that is not canonical is told, and the fix formats", () => {
  const text = `
node a:   join
`;

  expect(report(text, "FLOW9002")).toMatchInlineSnapshot(`
    "info: not in canonical form
    at 1:1 to 5:1 "flow 1 example"
    place (the flow)
    hint: format it
    fix: format it"
  `);

  expect(mended(text, "FLOW9002")).toMatchInlineSnapshot(`
    "node a: join
    "
  `);
});

test("an edge that a reference makes needless is told", () => {
  const text = `
node a: transform {
  value = 1
}

node b: transform {
  value = a.value
}

a -> b
`;

  expect(report(text, "FLOW9003")).toMatchInlineSnapshot(`
    "info: edge repeats an order that a reference already gives
    at 12:1 to 12:7 "a -> b"
    place /edges/0
    hint: the node has no other edge; leave this one out"
  `);
});

test("a quoted id is told", () => {
  const text = `
node "box 7": join
`;

  expect(report(text, "FLOW9004")).toMatchInlineSnapshot(`
    "info: box 7 is quoted everywhere; an id of letters, digits, \`_\`, \`-\` reads better
    at 4:6 to 4:13 "\\"box 7\\""
    place /nodes/0/id"
  `);
});

test("waiting without a limit is told", () => {
  const text = `
node a: http.request {
  url = "https://shop.example"
}
`;

  expect(report(text, "FLOW9005")).toMatchInlineSnapshot(`
    "info: http.request without @timeout
    at 4:6 to 4:7 "a"
    place /nodes/0/id"
  `);
});
