import { DslError } from "@millrace/dsl";
import { applyEdits } from "@millrace/dsl/editor";
import { expect, test } from "vitest";

test("edits are made whatever their order", () => {
  const edits = [
    { from: 4, to: 4, text: "!" },
    { from: 0, to: 1, text: "" },
    { from: 2, to: 3, text: "xyz" },
  ];
  expect(applyEdits("abcd", edits)).toBe("bxyzd!");
});

test("an insertion may stand at either end of a replacement", () => {
  const edits = [
    { from: 1, to: 2, text: "-" },
    { from: 1, to: 1, text: "<" },
    { from: 2, to: 2, text: ">" },
  ];
  expect(applyEdits("abc", edits)).toBe("a<->c");
});

test.each([
  ["before the text", [{ from: -1, to: 0, text: "" }]],
  ["behind the text", [{ from: 3, to: 5, text: "" }]],
  ["backwards", [{ from: 2, to: 1, text: "" }]],
  ["nowhere", [{ from: Number.NaN, to: 1, text: "" }]],
  [
    "over another",
    [
      { from: 0, to: 2, text: "" },
      { from: 1, to: 3, text: "" },
    ],
  ],
])("an edit %s is refused", (_, edits) => {
  expect(() => applyEdits("abcd", edits)).toThrow(DslError);
  expect(() => applyEdits("abcd", edits)).toThrow(
    expect.objectContaining({ code: "edits_invalid" }),
  );
});
