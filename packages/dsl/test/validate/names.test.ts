/** Names that a flow declares and uses. */
import { expect, test } from "vitest";
import { codes, mended, report } from "./check.ts";

test("an input declared twice is named, with the first one", () => {
  const text = `
input a: int
input a: int

output x = inputs.a
`;

  expect(report(text, "FLOW2005")).toMatchInlineSnapshot(`
    "error: input a is declared twice
    at 5:7 to 5:8 "a"
    place /inputs/1
    hint: rename one
    related 4:7 first declared here
    error: input a is declared twice
    at 5:7 to 5:8 "a"
    place /inputs/1
    hint: rename one
    related 4:7 first declared here"
  `);
});

test("a node id declared twice in one body is named; the same id in another body is fine", () => {
  const text = `
node a: map {
  items = [1]
  body {
    node a: transform {
      value = item
    }

    output = a.value
  }
}
node a: transform {
  value = 1
}

`;

  expect(report(text, "FLOW2005")).toMatchInlineSnapshot(`
    "error: node a is declared twice
    at 14:6 to 14:7 "a"
    place /nodes/1
    hint: rename one
    related 4:6 first declared here
    error: node a is declared twice
    at 14:6 to 14:7 "a"
    place /nodes/1
    hint: rename one
    related 4:6 first declared here"
  `);
});

test("an edge written twice is named, and the fix removes its line", () => {
  const text = `
node a: transform {
  value = 1
}
node b: join

a -> b
a -> b
`;

  expect(report(text, "FLOW2006")).toMatchInlineSnapshot(`
    "error: edge a.out -> b is written twice
    at 10:1 to 10:7 "a -> b"
    place /edges/1
    related 9:1 first written here
    fix: remove it
    error: edge a.out -> b is written twice
    at 10:1 to 10:7 "a -> b"
    place /edges/1
    related 9:1 first written here
    fix: remove it"
  `);

  expect(mended(text, "FLOW2006")).toMatchInlineSnapshot(`
    "
    node a: transform {
      value = 1
    }
    node b: join

    a -> b

    "
  `);
});

test("a reserved node id is refused", () => {
  const text = `
node run: join
`;

  expect(report(text, "FLOW2007")).toMatchInlineSnapshot(`
    "error: run is reserved (\`inputs nodes run\`)
    at 4:6 to 4:9 "run"
    place /nodes/0/id
    hint: rename"
  `);
});

test("a local that hides a node is named where it is read", () => {
  const text = `
node item: transform {
  value = 1
}

node all: map {
  items = [1]
  body {
    output = item
  }
}
`;

  expect(report(text, "FLOW2008")).toMatchInlineSnapshot(`
    "warning: node item is hidden by the local item in this body
    at 11:14 to 11:18 "item"
    place /nodes/1/body/output
    hint: read it as \`nodes["item"]\`"
  `);
});

test("a local that hides a node nobody reads there is fine", () => {
  const text = `
node index: transform {
  value = 1
}

node all: map {
  items = [1]
  body {
    output = item
  }
}
`;

  expect(codes(text)).not.toContain("FLOW2008");
});

test("a node of a body with the name of a local of that body is named", () => {
  const text = `
node all: map {
  items = [1]
  body {
    node item: transform {
      value = index
    }
  }
}
`;

  expect(report(text, "FLOW2008")).toMatchInlineSnapshot(`
    "warning: node item is hidden by the local item in this body
    at 7:10 to 7:14 "item"
    place /nodes/0/body/nodes/0/id
    hint: read it as \`nodes["item"]\`"
  `);
});

test("names that differ only in normalisation are named", () => {
  const text = `
node "café": join
node "café": join
`;

  expect(report(text, "FLOW2011")).toMatchInlineSnapshot(`
    "warning: names café and café look the same
    at 5:6 to 5:12 "\\"café\\""
    place /nodes/1
    hint: they differ in normalisation
    related 4:6 the other one"
  `);
});

test("names that differ only in similar letters are named", () => {
  const text = `
input scope: int
input "sсope": int

output x = inputs
`;

  expect(report(text, "FLOW2011")).toMatchInlineSnapshot(`
    "warning: names scope and sсope look the same
    at 5:7 to 5:14 "\\"sсope\\""
    place /inputs/1
    hint: they differ in similar letters
    related 4:7 the other one"
  `);
});

test("a connection that is not declared is named, with those that are", () => {
  const text = `
connection shop: oauth

node a: http.request {
  url = "https://shop.example"
  connection = "shp"
}
`;

  expect(report(text, "FLOW2014")).toMatchInlineSnapshot(`
    "error: connection shp is not declared in this flow
    at 8:16 to 8:21 "\\"shp\\""
    place /nodes/0/fields/connection
    hint: declared: shop"
  `);
});

test("a node id with a character of node paths is refused", () => {
  const text = `
node "a/b": join
`;

  expect(report(text, "FLOW2015")).toMatchInlineSnapshot(`
    "error: a node id must not be empty, longer than 128 characters, or hold \`/ [ ] ~\` or a control character
    at 4:6 to 4:11 "\\"a/b\\""
    place /nodes/0/id
    hint: parsed and printed all the same"
  `);
});

test("an empty node id is refused", () => {
  const text = `
node "": join
`;

  expect(report(text, "FLOW2015")).toMatchInlineSnapshot(`
    "error: a node id must not be empty, longer than 128 characters, or hold \`/ [ ] ~\` or a control character
    at 4:6 to 4:8 "\\"\\""
    place /nodes/0/id
    hint: parsed and printed all the same"
  `);
});
