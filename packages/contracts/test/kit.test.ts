import { nearestName, pointerKeys, pointerSegment, UnorderedMap } from "@millrace/contracts/kit";
import { gzipBytes } from "@millrace/test-support/bundle";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./events/arbitrary.ts";

test("the keys of a pointer are those that its segments were made of", () => {
  const keys = fc.array(fc.string({ unit: fc.constantFrom("a", "~", "/", "0", "1", "é") }));
  holds(
    fc.property(keys, (all) => {
      expect(pointerKeys(all.map(pointerSegment).join(""))).toEqual(all);
    }),
  );
});

test("a program pays for canonical JSON and SHA-256 at most 1,500 bytes, compressed", async () => {
  const code = 'export { canonicalJson, sha256Hex } from "@millrace/contracts/kit";';
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(1_500);
});

test("an unordered map has the entries that a map has, whatever comes and goes", () => {
  const key = fc.constantFrom("a", "1", "__proto__", "constructor", "size");
  holds(
    fc.property(fc.array(fc.tuple(key, fc.option(fc.integer()))), (steps) => {
      const map = new Map<string, number>();
      const unordered = new UnorderedMap<number>();
      for (const [name, value] of steps) {
        if (value === null) expect(unordered.delete(name)).toBe(map.delete(name));
        else {
          map.set(name, value);
          unordered.set(name, value);
        }
        expect([unordered.size, unordered.has(name), unordered.get(name)]).toEqual([
          map.size,
          map.has(name),
          map.get(name),
        ]);
      }
      const entries = unordered.keys().map((name) => [name, unordered.get(name)]);
      expect(new Map(entries as [string, number][])).toEqual(map);
      expect(unordered.values().sort()).toEqual([...map.values()].sort());
    }),
  );
});

test("a name is near another when they share a letter", () => {
  expect(nearestName("f", ["a", "fs"])).toBe("fs");
  expect(nearestName("f", ["a"])).toBe(undefined);
  expect(nearestName("ab", ["cd", "ac"])).toBe("ac");
});
