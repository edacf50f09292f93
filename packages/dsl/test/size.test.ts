import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

/** Ceilings in bytes, minified and compressed; raising one is a visible line of a change. */
const CEILINGS: readonly (readonly [names: string, bytes: number])[] = [
  ["parseFlow", 33_500],
  ["parseFlow, printFlow", 39_500],
  ["parseExpression", 19_200],
  ["compileExpression, compileValue", 32_900],
  ["validateFlow", 87_500],
];

test.each(CEILINGS)("a program pays for %s at most %i bytes, compressed", async (names, bytes) => {
  const code = `export { ${names} } from "@millrace/dsl";`;
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(bytes);
});
