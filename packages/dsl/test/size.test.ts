import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

/** Ceilings in bytes, minified and compressed; raising one is a visible line of a change. */
const CEILINGS: readonly (readonly [names: string, bytes: number])[] = [
  ["parseFlow", 31_000],
  ["parseFlow, printFlow", 37_200],
  ["parseExpression", 17_500],
  ["compileExpression, compileValue", 31_000],
  ["validateFlow", 86_400],
];

test.each(CEILINGS)("a program pays for %s at most %i bytes, compressed", async (names, bytes) => {
  const code = `export { ${names} } from "@millrace/dsl";`;
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(bytes);
});
