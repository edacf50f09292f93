/** Regular expressions in linear time. */

import {
  compilePattern,
  compileSchema,
  MAX_PATTERN_LENGTH,
  MAX_PATTERN_STEPS,
} from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";

function matches(source: string, text: string, ignoreCase = false): boolean {
  const pattern = compilePattern(source, { ignoreCase });
  if (!pattern.ok) throw new Error(pattern.problem);
  return pattern.test(text);
}

function problem(source: string): string {
  const pattern = compilePattern(source);
  return pattern.ok ? "" : pattern.problem;
}

test("a pattern is found anywhere unless it is anchored", () => {
  expect(matches("b+", "abbc")).toBe(true);
  expect(matches("^b+$", "abbc")).toBe(false);
  expect(matches("^a|c$", "xc")).toBe(true);
  expect(matches("", "")).toBe(true);
});

test("what would hang a backtracking matcher is answered", () => {
  const text = `${"a".repeat(50_000)}b`;
  expect(matches("^(a+)+$", text)).toBe(false);
  expect(matches("^(a|aa)+$", text)).toBe(false);
  expect(matches("(x+x+)+y", "x".repeat(20_000))).toBe(false);
});

/** A text of `length` characters in which no stretch comes again. */
function scrambled(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state < 1_073_741_824 ? "a" : "b";
  }).join("");
}

test("what is remembered of a text makes the next look cheap: one step a character", () => {
  const pattern = compilePattern("^(?:a+)+$");
  if (!pattern.ok) throw new Error(pattern.problem);
  const text = `${"a".repeat(100_000)}!`;
  for (const spent of [101_000, 100_010]) {
    const budget = { left: MAX_PATTERN_STEPS };
    expect(pattern.test(text, budget)).toBe(false);
    expect(MAX_PATTERN_STEPS - budget.left).toBeLessThan(spent);
  }
});

test("a pattern that needs more sets than are remembered stops when its budget is spent", () => {
  const pattern = compilePattern("a[ab]{200}c");
  if (!pattern.ok) throw new Error(pattern.problem);
  const budget = { left: 1_000_000 };
  expect(pattern.test(scrambled(1_000_000), budget)).toBe(false);
  expect(budget.left).toBeLessThan(0);
  expect(budget.left).toBeGreaterThan(-20 * 1000); // at most one look at every state too much
  expect(pattern.test(`${scrambled(300)}a${"b".repeat(200)}c`)).toBe(true);
});

test("all patterns of one check share what they may cost, and a check that spends it says so", () => {
  const schema = compileSchema({ anyOf: Array(20).fill({ pattern: "a[ab]{200}c" }) });
  if (!schema.ok) throw new Error("refused");
  expect(schema.check(scrambled(200_000))).toEqual([
    { pointer: "", message: "needs too many checks; simplify the schema" },
  ]);
});

test("a text of many different characters is answered, though not all of them are remembered", () => {
  const text = Array.from({ length: 30_000 }, (_, i) =>
    String.fromCodePoint(0x4e00 + (i % 20_000)),
  );
  expect(matches("^\\p{L}+$", text.join(""))).toBe(true);
  expect(matches("^\\p{L}+$", `${text.join("")}1`)).toBe(false);
});

test.each([
  ["(?=a)", "no lookahead"],
  ["(?!a)", "no lookahead"],
  ["(?<=a)b", "no lookbehind"],
  ["(?<!a)b", "no lookbehind"],
  ["(a)\\1", "no backreference"],
  ["(?<n>a)\\k<n>", "no backreference"],
  ["(?i:a)", "no group flags"],
  ["a{2000}", "a pattern has at most 1000 states"],
  ["(a{100}){100}", "a pattern has at most 1000 states"],
  ["a".repeat(MAX_PATTERN_LENGTH + 1), "a pattern has at most 512 characters"],
  ["(a", "a `(` is not closed"],
  ["a)", "a `)` closes nothing"],
  ["[a", "a `[` is not closed"],
  ["[z-a]", "a bad character class"],
  ["*a", "nothing to repeat"],
  ["a{2,1}", "a repetition ends before it starts"],
  ["a\\", "it ends too early"],
  ["\\y", "unknown escape `\\y`"],
  ["\\p{Nonsense}", "unknown property `Nonsense`"],
])("%s is refused: %s", (source, expected) => {
  expect(problem(source)).toBe(expected);
});

// Not in the law below: V8 looks for `\B` inside of surrogate pairs, too.
test("`\\B` is between two characters of one kind", () => {
  expect(matches("a\\Bb", "ab")).toBe(true);
  expect(matches("a\\B", "a b")).toBe(false);
  expect(matches("\\B", "a😀a")).toBe(false);
});

test("case is ignored on request", () => {
  expect(matches("^straße [a-c]É$", "STRASSE", true)).toBe(false);
  expect(matches("^[a-c]é$", "BÉ", true)).toBe(true);
  expect(matches("^[a-c]é$", "BÉ")).toBe(false);
  expect(matches("^[^a]$", "A", true)).toBe(false);
});

const atom = fc.constantFrom(
  ..."a b c . \\d \\w \\s \\D \\W \\S [a-c] [^a-c] [\\d_-] \\u0061 \\x62 \\. é 😀 [😀-😎] \\p{L} \\P{Lu} \\cJ".split(
    " ",
  ),
);

/** Patterns of the supported kind, small enough for the platform's own engine to answer at once. */
const pattern = fc.letrec<{ term: string; choice: string }>((tie) => ({
  term: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    atom,
    fc
      .tuple(tie("choice"), fc.constantFrom("(", "(?:", "(?<x>"))
      .map(([inner, open]) => `${open}${inner})`),
    fc
      .tuple(
        fc.oneof(
          atom,
          tie("choice").map((inner) => `(?:${inner})`),
        ),
        fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"),
      )
      .map(([inner, repeat]) => inner + repeat),
    fc.constantFrom("^", "$", "\\b"),
  ),
  choice: fc
    .array(
      fc.array(tie("term"), { maxLength: 3 }).map((terms) => terms.join("")),
      { minLength: 1, maxLength: 2 },
    )
    .map((options) => options.join("|")),
})).choice;

const text = fc
  .array(
    fc.constantFrom("a", "b", "c", "d", "_", "-", "1", " ", "\n", ".", "é", "É", "😀", "\u2028"),
    { maxLength: 8 },
  )
  .map((chars) => chars.join(""));

test("every pattern answers as the platform's own engine does", () => {
  fc.assert(
    fc.property(pattern, text, (source, subject) => {
      let own: RegExp;
      try {
        own = new RegExp(source, "u");
      } catch {
        return;
      }
      const pattern = compilePattern(source);
      if (!pattern.ok) throw new Error(pattern.problem);
      for (let i = 0; i < 2; i += 1) expect(pattern.test(subject)).toBe(own.test(subject)); // found, then remembered
    }),
    { numRuns: casesOf(5000) },
  );
});
