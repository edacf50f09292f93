import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

/** Ceilings in bytes, minified and compressed; raising one is a visible line of a change. */
const CEILINGS: readonly (readonly [names: string, bytes: number])[] = [
  ["parseFlow", 36_250], // 0.2 kB of it refuses options that there are not; 0.1 kB of it leaves a comma between arrows to its author; 0.1 kB of it leaves what is set twice to its author; 0.3 kB of it writes edges of several nodes one by one; 0.2 kB of it tell words apart without comparing them: formatted text in 15 % less time; 0.3 kB of it makes a third less garbage; 0.1 kB of it reads on where a comma is missing; 0.1 kB of it reads who is told of a failure; 0.1 kB of it finds an edge that is written twice without a key for each; 3.3 kB of it the strict reader: formatted text in half the time
  ["parseFlow, printFlow", 42_500], // 0.1 kB of it refuses options that there are not; 0.1 kB of it leaves a comma between arrows to its author; 0.1 kB of it leaves what is set twice to its author; 0.3 kB of it writes edges of several nodes one by one; 0.2 kB of it tell words apart without comparing them: formatted text in 15 % less time; 0.3 kB of it makes a third less garbage; 0.1 kB of it reads on where a comma is missing; 0.1 kB of it reads who is told of a failure; 0.6 kB of it lets the strict reader see layout: format in 40 % of the time
  ["parseExpression", 18_100], // 0.1 kB of it leaves what is set twice to its author; 0.1 kB of it tell words apart without comparing them; 0.1 kB of it reads on where a comma is missing; loops that stop at the end of the text, so that V8 compiles them well
  ["compileExpression, compileValue", 38_200], // 0.1 kB of it leaves what is set twice to its author; 0.1 kB of it tell words apart without comparing them; 0.1 kB of it keeps the words of a text; 0.5 kB of it evaluate conditions in half the time; 0.1 kB of it reads on where a comma is missing; 0.1 kB of it pays for each cell of CSV before a row is joined; 0.5 kB of it take lists apart; 3.2 kB are patterns in linear time, 1.2 kB CSV, 1.3 kB zones and durations
  ["validateFlow", 98_300], // 0.1 kB of it refuses options that there are not; 0.1 kB of it leaves a comma between arrows to its author; 0.1 kB of it leaves what is set twice to its author; 0.3 kB of it writes edges of several nodes one by one; 0.3 kB of it makes a third less garbage where a flow is read; 0.5 kB of it evaluate conditions in half the time; 0.5 kB of it mends blocks of `if` and finds conditions that decide nothing; 0.1 kB of it pays for each cell of CSV before a row is joined; 0.1 kB of it reports misspelt labels alone; 0.2 kB of it say which fixes are certain; with what formats; 0.3 kB of it say where a secret may stand; 0.1 kB of it lets an editor check in steps
];

test.each(CEILINGS)("a program pays for %s at most %i bytes, compressed", async (names, bytes) => {
  const code = `export { ${names} } from "@millrace/dsl";`;
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(bytes);
});
