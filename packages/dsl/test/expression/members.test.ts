import { compileExpression as compiled } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { codeOf, errorOf, evaluate } from "./evaluate.ts";

const names = {
  a: { b: { c: 1 }, list: [1, { d: 2 }], "odd name": 3, nothing: null },
  none: null,
  text: "abc",
  key: "b",
};

test.each([
  ["a.b.c", 1],
  ['a["b"].c', 1],
  ["a[key].c", 1],
  ['a["odd name"]', 3],
  ["a.missing", null],
  ['a["missing"]', null],
  ["a.list[0]", 1],
  ["a.list[1].d", 2],
  ["a.list[2]", null],
  ["a.list[1 + 0].d", 2],
  ["[10, 20][1]", 20],
  ["{ x: 5 }.x", 5],
  ["(a.b ?? a).c", 1],
] as const)("%s is %j", (source, value) => {
  expect(evaluate(source, names)).toEqual(value);
});

describe("`?.` on null makes the whole rest of the chain null", () => {
  test.each([
    ["none?.x", null],
    ["none?.x.y.z", null],
    ['none?.x["y"][0].z', null],
    ["none?.x[nope]", null],
    ["a.nothing?.x.y", null],
    ["a.missing?.x.y", null],
    ["a?.b.c", 1],
    ["a?.b?.c", 1],
    ["(none?.x.y) ?? 7", 7],
    ["size([none?.x])", 1],
  ] as const)("%s", (source, value) => {
    expect(evaluate(source, names)).toEqual(value);
  });

  test("but a null further on still needs its own", () => {
    expect(errorOf("a?.missing.x", names)).toBe("null_access@0+12");
    expect(evaluate("a?.missing?.x", names)).toBe(null);
  });
});

test.each([
  ["none.x", "null_access"],
  ["none[0]", "null_access"],
  ['none["x"]', "null_access"],
  ["a.missing.x", "null_access"],
  ["text.length", "type_mismatch"],
  ["text[0]", "type_mismatch"],
  ["text?.length", "type_mismatch"],
  ["a.list.length", "type_mismatch"],
  ['a.list["0"]', "type_mismatch"],
  ["a.list[-1]", "type_mismatch"],
  ["a.list[0.5]", "type_mismatch"],
  ["a.list[1e300]", "no error"],
  ["a[0]", "type_mismatch"],
  ["a[none]", "type_mismatch"],
  ["(1).x", "type_mismatch"],
  ["true.x", "type_mismatch"],
  ["unknown", "unknown_name"],
  ["unknown?.x", "unknown_name"],
  ["unknown ?? 1", "unknown_name"],
  ["size", "unknown_name"],
])("%s gives %s", (source, code) => {
  expect(codeOf(source, names)).toBe(code);
});

describe("nodes", () => {
  const nodes = { "my node": { v: 1 }, absent: null, plain: { v: 2 } };

  test("`nodes[id]` reads the node visible under that id", () => {
    expect(evaluate('nodes["my node"].v', { nodes })).toBe(1);
    expect(evaluate("nodes.plain.v", { nodes })).toBe(2);
    expect(evaluate("nodes[id].v", { nodes, id: "plain" })).toBe(2);
    expect(evaluate('nodes["absent"]?.v', { nodes })).toBe(null);
    expect(evaluate('nodes["absent"] ?? 3', { nodes })).toBe(3);
  });

  test("an id that no visible node bears is an unknown name, inherited names too", () => {
    for (const id of ["nope", "constructor", "__proto__", "toString"]) {
      expect(codeOf(`nodes["${id}"]`, { nodes })).toBe("unknown_name");
      expect(codeOf("nodes[id]?.x", { nodes, id })).toBe("unknown_name");
    }
    expect(codeOf("nodes[0]", { nodes })).toBe("type_mismatch");
  });

  test("a macro variable called nodes is no more than a variable", () => {
    expect(evaluate("map([{ a: 1 }], nodes, nodes.b)", {})).toEqual([null]);
  });
});

test("names of the scope are read at most once an evaluation", () => {
  let reads = 0;
  const scope = {
    get: () => {
      reads += 1;
      return [1, 2, 3];
    },
  };
  expect(evaluate("1")).toBe(1);
  compiled("map(l, x, size(l) + x + size(l))").evaluate(scope, { nowEpoch: 0 });
  expect(reads).toBe(1);
});

test("macro variables hide names, and end with their macro", () => {
  expect(evaluate("map([1, 2], a, a * 10)", names)).toEqual([10, 20]);
  expect(evaluate("[map([1], a, a), a.b.c]", names)).toEqual([[1], 1]);
  expect(evaluate("map([1, 2], x, map([10, 20], y, x + y))")).toEqual([
    [11, 21],
    [12, 22],
  ]);
  expect(evaluate("map([1, 2], x, map([x, 5], x, x + 1))")).toEqual([
    [2, 6],
    [3, 6],
  ]);
  expect(codeOf("map([1], x, x) == [x]")).toBe("unknown_name");
});

test("an argument list is never changed in place", () => {
  const list = Object.freeze([3, 1, 2]);
  expect(
    evaluate(
      "[sortBy(l, x, x), l + [4], unique(l), flatten(l), filter(l, x, x > 1), map(l, x, x)]",
      {
        l: list,
      },
    ),
  ).toHaveLength(6);
  expect(list).toEqual([3, 1, 2]);
});
