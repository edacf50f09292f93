/** Names that a flow declares and uses. */
import { expect, test } from "vitest";
import { codes, findings } from "./check.ts";

test("a local that hides a node nobody reads there is fine", () => {
  const text = `
node index: transform { value = 1 }

node all: map {
  items = [1]
  body {
    output = item
  }
}
`;

  expect(codes(text)).not.toContain("FLOW2008");
});

test("an edge to an unknown node is not mended to one that leads to itself", () => {
  const near = (to: string): (string | undefined)[] =>
    findings(`
node fetch: log { message = "x" }

node store: log { message = "x" }

fetch -> ${to}
`).flatMap(({ code, hint }) => (code === "FLOW4001" ? [hint] : []));

  expect(near("fetsh")).toEqual([undefined]);
  expect(near("stoer")).toEqual(["did you mean store?"]);
});
