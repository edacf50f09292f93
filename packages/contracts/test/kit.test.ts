import { nearestName, pointerKeys, pointerSegment } from "@millrace/contracts/kit";
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

test("a name is near another when they share a letter", () => {
  expect(nearestName("f", ["a", "fs"])).toBe("fs");
  expect(nearestName("f", ["a"])).toBe(undefined);
  expect(nearestName("ab", ["cd", "ac"])).toBe("ac");
});
