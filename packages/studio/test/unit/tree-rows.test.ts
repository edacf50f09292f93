/** The rows of the tree of nodes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ancestorsOf,
  findRow,
  nameOf,
  rowsOf,
  type TreeItem,
} from "../../src/page/parts/tree/tree-rows.ts";

const tree: fc.Arbitrary<readonly TreeItem[]> = fc
  .array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 })
  .map((counts) => counts.map((count, at) => itemOf(`node${at}`, count)));

/** An item with `count` levels below it, of two items each. */
function itemOf(path: string, count: number): TreeItem {
  const id = path.split("/").at(-1) as string;
  if (count === 0) return { path, id, type: "log" };
  const children = (): readonly TreeItem[] =>
    ["a", "b"].map((name) => itemOf(`${path}/${name}`, count - 1));
  return { path, id, type: "map", children };
}

const all = (items: readonly TreeItem[]): TreeItem[] =>
  items.flatMap((item) => [item, ...all(item.children?.() ?? [])]);

describe("the rows of a tree", () => {
  test("are all items when everything is open, and the outermost ones when nothing is", () => {
    fc.assert(
      fc.property(tree, (items) => {
        const open = rowsOf(items, () => true).map(({ item }) => item.path);
        expect(open).toEqual(all(items).map(({ path }) => path));
        expect(rowsOf(items, () => false).map(({ item }) => item)).toEqual(items);
      }),
    );
  });

  test("say their level, their place among their siblings and what contains them", () => {
    fc.assert(
      fc.property(tree, (items) => {
        for (const { item, level, position, count, parent } of rowsOf(items, () => true)) {
          expect(level).toBe(item.path.split("/").length);
          expect(count).toBe(level === 1 ? items.length : 2);
          expect(position).toBeLessThanOrEqual(count);
          expect(parent).toBe(level === 1 ? undefined : item.path.replace(/\/[^/]*$/, ""));
        }
      }),
    );
  });

  test("of a closed item are not asked for", () => {
    let asked = 0;
    const item: TreeItem = {
      path: "pages",
      id: "pages",
      type: "map",
      children: () => {
        asked += 1;
        return [];
      },
    };
    rowsOf([item], () => false);
    expect(asked).toBe(0);
    rowsOf([item], () => true);
    expect(asked).toBe(1);
  });

  test("appear for every item once its ancestors are open", () => {
    fc.assert(
      fc.property(tree, (items) => {
        for (const { path } of all(items)) {
          const open = new Set(ancestorsOf(items, path));
          const shown = rowsOf(items, (each) => open.has(each)).map(({ item }) => item.path);
          expect(shown).toContain(path);
        }
        expect(ancestorsOf(items, "nowhere")).toBeUndefined();
      }),
    );
  });

  test("of a run are found below their items", () => {
    const items: readonly TreeItem[] = [
      { path: "page", id: "page", type: "log" },
      {
        path: "pages",
        id: "pages",
        type: "map",
        children: () => [
          {
            path: "pages[0]",
            id: "[0]",
            type: "item",
            children: () => [{ path: "pages[0]/fetch", id: "fetch", type: "log" }],
          },
        ],
      },
    ];
    expect(ancestorsOf(items, "pages[0]/fetch")).toEqual(["pages", "pages[0]"]);
  });
});

describe("the name of a row", () => {
  const fetch = { path: "fetch", id: "fetch", type: "http.request" } as const;
  test.each([
    [{}, "fetch, http.request"],
    [{ state: "failed" }, "fetch, http.request, failed"],
    [{ state: "succeeded", isTakenOver: true }, "fetch, http.request, succeeded, taken over"],
    [{ problems: 1 }, "fetch, http.request, 1 problem"],
    [{ state: "running", problems: 2 }, "fetch, http.request, running, 2 problems"],
    [{ problems: 0 }, "fetch, http.request"],
  ] as const)("of %j is “%s”", (more, name) => {
    expect(nameOf({ ...fetch, ...more })).toBe(name);
  });
});

describe("typing finds a row", () => {
  const rows = rowsOf(
    ["fetch", "save", "send", "Sort"].map((id) => itemOf(id, 0)),
    () => false,
  );
  test.each([
    ["the next one with the letter", 0, "s", 1],
    ["the one after it for the same letter", 1, "s", 2],
    ["from the end on at the beginning", 3, "s", 1],
    ["the same one while it still fits", 1, "sa", 1],
    ["another one when it does not fit any more", 1, "se", 2],
    ["without regard to capitals", 0, "SO", 3],
    ["none without a match", 0, "x", undefined],
    ["the next one for a letter typed twice", 1, "ss", 2],
  ])("%s", (_, at, typed, expected) => {
    expect(findRow(rows, at, typed)).toBe(expected);
  });
});
