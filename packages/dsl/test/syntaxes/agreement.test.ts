import { printFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { decorate, reblank } from "../laws/decorate.ts";
import { anyGraph } from "../laws/generate.ts";
import { Random } from "../laws/random.ts";
import { FLOWS } from "./flows.ts";
import { colouredSpans, parsedSpans } from "./spans.ts";
import { tokenize } from "./tokenize.ts";

const SEEDS = 80;

/** What holds for every text that the parser takes: nothing is called wrong, and nothing runs on behind the end. */
function expectAgreement(text: string): void {
  const { tokens, open } = tokenize(text);
  expect(
    tokens.filter(({ scopes }) => scopes.some((scope) => scope.startsWith("invalid"))),
  ).toEqual([]);
  expect(open).toBe(0);
  expect(colouredSpans(text)).toEqual(parsedSpans(text));
}

describe("the grammar and the parser see the same strings, numbers, words, calls and comments", () => {
  test.each(FLOWS)("in $name", ({ text }) => {
    expectAgreement(text);
  });

  test("in generated flows, with comments and blanks anywhere", () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const r = new Random(seed);
      const canonical = printFlow(anyGraph(seed));
      expectAgreement(canonical);
      expectAgreement(decorate(canonical, r));
      expectAgreement(reblank(canonical, r));
    }
  });
});

test("in every flow each letter, digit and bracket has a scope", () => {
  for (const { text } of FLOWS) {
    const bare = tokenize(text).tokens.filter((token) => token.scopes.length === 0);
    expect(bare.filter((token) => token.text.trim() !== "")).toEqual([]);
  }
});
