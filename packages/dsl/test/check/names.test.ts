/** Names that a flow declares and uses. */
import { expect, test } from "vitest";
import { codes } from "./check.ts";

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
