import { compileExpression, findReferences, nodeReference, parseExpression } from "@millrace/dsl";
import { describe, expect, test } from "vitest";

/** References in short: `root.path`, with `?` when optional. */
function reads(source: string, locals: string[] = []): string[] {
  return compileExpression(source, { locals }).references.map(
    ({ root, path, optional }) => [root, ...path].join(".") + (optional ? "?" : ""),
  );
}

test("a reference is its root, the literal path and whether it is optional", () => {
  expect(compileExpression("fetch.body.date").references).toEqual([
    { root: "fetch", path: ["body", "date"], optional: false },
  ]);
});

test.each([
  ["a", ["a"]],
  ["a.b.c", ["a.b.c"]],
  ['a["b"].c', ["a.b.c"]],
  ["a[0].b", ["a"]],
  ["a.b[i].c", ["a.b", "i"]],
  ["a?.b.c", ["a.b.c?"]],
  ["a.b?.c", ["a.b.c"]],
  ["a ?? d", ["a?", "d"]],
  ["a.b ?? d", ["a.b", "d"]],
  ["d ?? a", ["d?", "a"]],
  ["a ?? b ?? c", ["a?", "b", "c"]],
  ["(a ?? b).c", ["a?", "b"]],
  ["a + a + a.b", ["a", "a.b"]],
  ["a?.b + a.b", ["a.b?", "a.b"]],
  ["{ x: a, y: [b] }", ["a", "b"]],
  ['"${a}-${b.c}"', ["a", "b.c"]],
  ["f.x ? a : !b", ["f.x", "a", "b"]],
  ["size(a.items)", ["a.items"]],
  ['nodes["my node"].v', ["nodes.my node.v"]],
  ['nodes["x"]?.v', ["nodes.x.v?"]],
  ['nodes["x"] ?? 1', ["nodes.x?"]],
  ['nodes["x"].v ?? 1', ["nodes.x.v"]],
  ["nodes.x.v", ["nodes.x.v"]],
  ["nodes[i].v", ["nodes", "i"]],
  ["inputs.base", ["inputs.base"]],
] as const)("%s reads %j", (source, expected) => {
  expect(reads(source)).toEqual(expected);
});

describe("macro variables and locals are no references", () => {
  test.each([
    ["map(l, x, x.a + y)", ["l", "y"]],
    ["filter(x, x, x > 1)", ["x"]],
    ["map(l, x, map(x.m, y, x + y + z))", ["l", "z"]],
    ["map(l, x, x) == [x]", ["l", "x"]],
    ["map(l, size, size(size))", ["l"]],
  ] as const)("%s", (source, expected) => {
    expect(reads(source)).toEqual(expected);
  });

  test("locals are named by the caller", () => {
    expect(reads("item.url + index + a.b", ["item", "index"])).toEqual(["a.b"]);
  });
});

test("constant means that nothing is read, not even the clock", () => {
  const constant = (source: string, locals: string[] = []): boolean =>
    compileExpression(source, { locals }).constant;
  expect(constant("1 + 2")).toBe(true);
  expect(constant("map([1], x, x)")).toBe(true);
  expect(constant("a")).toBe(false);
  expect(constant("item", ["item"])).toBe(false);
  expect(constant("now()")).toBe(false);
  expect(constant("[ago(1d)]")).toBe(false);
  expect(constant("1 ?? a")).toBe(false);
});

test("the node of a reference is its root, or the id in nodes[…]", () => {
  const [plain, named, computed] = compileExpression(
    'a.b + nodes["x y"].c + nodes[1 + 1]',
  ).references;
  expect(nodeReference(plain as never)).toEqual({ id: "a", path: ["b"] });
  expect(nodeReference(named as never)).toEqual({ id: "x y", path: ["c"] });
  expect(nodeReference(computed as never)).toBeUndefined();
});

test("every place of a reference is known by its offsets", () => {
  const source = 'a.b + map(a, x, nodes["n"].v)';
  const { ast } = parseExpression(source);
  const places = findReferences(ast as never).map(({ start, end, name }) => [
    source.slice(start, end),
    source.slice(name.start, name.end),
  ]);
  expect(places).toEqual([
    ["a.b", "a"],
    ["a", "a"],
    ['nodes["n"].v', 'nodes["n"]'],
  ]);
});
