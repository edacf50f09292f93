/** Labels: the schema of the answer, what an answer chooses, and lists that cannot be ports. */
import { compileSchema } from "@millrace/dsl";
import { expect, test } from "vitest";
import { chosenLabels, labelProblems, labelSchema } from "../../src/labels.ts";

const LABELS = [{ name: "bill" }, { name: "billing" }, { name: 'say "hi" 👋' }];

function fits(answer: unknown, options = {}): boolean {
  const schema = compileSchema(labelSchema(LABELS, options));
  if (!schema.ok) throw new Error(schema.problems[0]?.message);
  return schema.check(answer).length === 0;
}

test.each([
  [{ label: "bill" }, true],
  [{ label: "billing" }, true],
  [{ label: 'say "hi" 👋' }, true],
  [{ label: "Billing" }, false],
  [{ label: "billing " }, false],
  [{ label: "bil" }, false],
  [{ label: ["billing"] }, false],
  [{ label: "billing", why: "…" }, false],
  [{ labels: ["billing"] }, false],
  ["billing", false],
])("one label: %j fits: %j", (answer, expected) => {
  expect(fits(answer)).toBe(expected);
});

test.each([
  [{ labels: ["bill", "billing"] }, true],
  [{ labels: ["bill", "bill"] }, false],
  [{ labels: [] }, false],
  [{ labels: ["other"] }, false],
])("several labels: %j fits: %j", (answer, expected) => {
  expect(fits(answer, { multi: true })).toBe(expected);
});

test("an answer without a label fits, and means the fallback, where there is one", () => {
  const options = { multi: true, fallbackLabel: "bill" };
  expect(fits({ labels: [] }, options)).toBe(true);
  expect(chosenLabels({ labels: [] }, options)).toEqual({ labels: ["bill"], isFallback: true });
});

test("an answer chooses the labels that it names, in its order", () => {
  expect(chosenLabels({ label: "billing" })).toEqual({ labels: ["billing"], isFallback: false });
  expect(chosenLabels({ labels: ["billing", "bill"] }, { multi: true })).toEqual({
    labels: ["billing", "bill"],
    isFallback: false,
  });
});

test("a label that is there twice, or is a port of every node, is a problem", () => {
  const names = ["a", "out", "a", "error", "A"].map((name) => ({ name }));
  expect(labelProblems(names)).toEqual([
    {
      pointer: "/1/name",
      message: 'the label "out" is a port that every ai node has; choose another',
    },
    { pointer: "/2/name", message: 'the label "a" is there twice' },
    {
      pointer: "/3/name",
      message: 'the label "error" is a port that every ai node has; choose another',
    },
  ]);
});
