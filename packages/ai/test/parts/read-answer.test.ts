/** The JSON in what a model writes. */

import { MAX_JSON_DEPTH } from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readAnswer } from "../../src/read-answer.ts";

function value(text: string): unknown {
  const answer = readAnswer(text);
  if (!answer.ok) throw new Error(answer.problem.message);
  return answer.value;
}

function problem(text: string): string {
  const answer = readAnswer(text);
  return answer.ok ? "" : answer.problem.message;
}

const FENCE = "```";

test.each<[string, string, unknown]>([
  ["bare JSON", ' \n{"a":1}\t', { a: 1 }],
  ["prose around it", 'Sure! {"a":[1,{"b":"}"}]} Anything else?', { a: [1, { b: "}" }] }],
  ["a list", "The list: [1, 2].", [1, 2]],
  ["a bracket inside a text", '{"a":"] } {"}', { a: "] } {" }],
  ["an escaped quote", 'so: {"a":"\\"}"} }', { a: '"}' }],
  ["a fence tagged json", `Here:\n${FENCE}json\n{"a":1}\n${FENCE}\nBye {"a":2}`, { a: 1 }],
  ["a fence without a tag", `${FENCE}\n[1]\n${FENCE}`, [1]],
  ["a fence in capitals", `${FENCE}JSON\n[1]\n${FENCE}`, [1]],
  [
    "another fence before it",
    `${FENCE}python\nd = {"a": 2}\n${FENCE}\n${FENCE}json\n{"a":1}\n${FENCE}`,
    { a: 1 },
  ],
  ["only another fence", `${FENCE}text\n{"a":1}\n${FENCE}`, { a: 1 }],
  ["a fence that is not closed", `${FENCE}json\n{"a":1}`, { a: 1 }],
  ["a fence of four", `${FENCE}\`json\n{"a":"${FENCE}"}\n${FENCE}\``, { a: FENCE }],
  ["a fence with CRLF", `x\r\n${FENCE}json\r\n{"a":1}\r\n${FENCE}\r\n`, { a: 1 }],
  ["a fence on one line", `${FENCE}json {"a":1} ${FENCE}`, { a: 1 }],
  [
    "a fence inside a text",
    `{"a":"${FENCE}json\\n[1]\\n${FENCE}"}`,
    { a: `${FENCE}json\n[1]\n${FENCE}` },
  ],
  ["a text with a bracket in it", '"see [1] and {x}"', "see [1] and {x}"],
  ["a number", "42", 42],
  ["null", "null", null],
  ["a lone surrogate", '{"a":"\\ud83d"}', { a: "\ufffd" }],
  ["a raw lone surrogate", `{"a":"x\ud83d"}`, { a: "x\ufffd" }],
  ["the first of two", '[1] and {"a":1}', [1]],
])("reads %s", (_, text, expected) => {
  expect(value(text)).toEqual(expected);
});

test.each([
  ["", "is empty; must be JSON"],
  ["  \n", "is empty; must be JSON"],
  ["I cannot do that.", "must be JSON"],
  ["{'a': 1}", "must be JSON"],
  ['{"a":1', "must be JSON"],
  ["[}", "must be JSON"],
  ['See [note]: {"a":1}', "must be JSON"],
  ['{"a":1e999}', "must hold numbers below 1.8e308 only"],
])("%j has no value: %s", (text, expected) => {
  expect(problem(text)).toBe(expected);
});

test("`__proto__` is no member of what is read", () => {
  const read = value('{"__proto__":{"admin":true},"a":{"__proto__":1,"b":2}}') as object;
  expect(read).toEqual({ a: { b: 2 } });
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect("admin" in read).toBe(false);
});

test("nesting up to a level below the limit of JSON is read, because the record is one more", () => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect(problem(nested(MAX_JSON_DEPTH - 1))).toBe("");
  expect(problem(nested(MAX_JSON_DEPTH))).toBe("must be nested at most 199 levels deep");
  expect(problem(`Sure: ${nested(MAX_JSON_DEPTH)}`)).toBe("must be nested at most 199 levels deep");
});

test.each<[string, string]>([
  ["open brackets", "[".repeat(10_000_000)],
  ["open objects", '{"a":'.repeat(2_000_000)],
  ["open fences", `${FENCE}x\n`.repeat(2_000_000)],
  ["quotes", '"'.repeat(10_000_000)],
  ["backslashes", `{"${"\\".repeat(10_000_000)}`],
  ["blank lines", `x${"\n".repeat(10_000_000)}x`],
  ["backticks", "`".repeat(10_000_000)],
  ["brackets that close first", "]".repeat(10_000_000)],
])("ten megabytes of %s are refused", (_, text) => {
  expect(problem(text)).toMatch(/^must be /);
});

test("whatever JSON a model wraps into prose is read as it is", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.json()), fc.dictionary(fc.string(), fc.json())),
      fc.constantFrom("", "Here you are: ", `Result:\n${FENCE}json\n`),
      (data, before) => {
        const json = JSON.stringify(data);
        const text = before.endsWith("\n")
          ? `${before}${json}\n${FENCE}\nDone.`
          : `${before}${json} Done.`;
        expect(value(text)).toEqual(JSON.parse(json));
      },
    ),
  );
});

test("no text makes it throw", () => {
  const piece = fc.constantFrom(
    FENCE,
    "json",
    "\n",
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "a",
    ":",
    "1",
    " ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const answer = readAnswer(pieces.join(""));
      expect(typeof answer.ok).toBe("boolean");
    }),
    { numRuns: casesOf(2000) },
  );
});
