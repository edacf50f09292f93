/** Names that a flow declares and uses. */
import { expect, test } from "vitest";
import { findings } from "./check.ts";

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
