/**
 * Mistakes that people and models make, mended as an editor does it: the first fix of each diagnostic, at most three times.
 * What has no fix is said in one message that tells what to write.
 */
import { checkFlow } from "@millrace/dsl";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";
import { fixAll } from "./fix-all.ts";
import { MISTAKES } from "./mistakes.ts";

const mended = MISTAKES.filter(([, , right]) => right !== undefined);
const told = MISTAKES.filter(([, , right]) => right === undefined);

const errors = (text: string): string[] =>
  checkFlow(text, catalog)
    .diagnostics.filter(({ severity }) => severity === "error")
    .map(({ code, message }) => `${code} ${message}`);

test.each(mended)("%s: the fixes give what was meant", (_what, wrong, right) => {
  const { text, diagnostics } = fixAll(wrong, catalog);
  expect(text).toBe(right);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
});

test.each(told)("%s: one message says what to do", (_what, wrong) => {
  const { diagnostics } = checkFlow(wrong, catalog);
  const found = diagnostics.filter(({ severity }) => severity === "error");
  expect(found.map(({ code, message }) => `${code} ${message}`)).toHaveLength(1);
  expect(found[0]?.hint).toMatch(/\w/);
  expect(fixAll(wrong, catalog).text).toBe(wrong);
});

test("of more than 70 mistakes at least 60 are mended, the same in every round, and none goes on for ever", () => {
  expect(MISTAKES.length).toBeGreaterThanOrEqual(70);
  expect(mended.length).toBeGreaterThanOrEqual(60);
  for (const [what, wrong] of MISTAKES) {
    const once = fixAll(wrong, catalog);
    expect(fixAll(once.text, catalog).text, what).toBe(once.text);
    expect(once.rounds, what).toBeLessThanOrEqual(2);
    expect(errors(once.text).length, what).toBeLessThanOrEqual(errors(wrong).length);
  }
});
