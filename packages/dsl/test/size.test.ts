import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

/** Ceilings in bytes, minified and compressed; raising one is a visible line of a change. */
const CEILINGS: readonly (readonly [names: string, bytes: number])[] = [
  ["parseFlow", 33_800], // 2.7 kB of it the strict reader: formatted text in half the time
  ["parseFlow, printFlow", 40_100],
  ["parseExpression", 17_600], // loops that stop at the end of the text, so that V8 compiles them well
  ["compileExpression, compileValue", 30_900],
  ["validateFlow", 89_000],
];

test.each(CEILINGS)("a program pays for %s at most %i bytes, compressed", async (names, bytes) => {
  const code = `export { ${names} } from "@millrace/dsl";`;
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(bytes);
});
