import { EventParseError, formatPath, type PathSegment, parsePath } from "@millrace/contracts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";

test.each<[string, PathSegment[]]>([
  ["fetch", [{ id: "fetch" }]],
  ["pages[3]/get", [{ id: "pages", index: 3 }, { id: "get" }]],
  ["rows[2]/cells[0]/get", [{ id: "rows", index: 2 }, { id: "cells", index: 0 }, { id: "get" }]],
  ["child/fetch", [{ id: "child" }, { id: "fetch" }]],
  ["pages~2[3]/get", [{ id: "pages", attempt: 2, index: 3 }, { id: "get" }]],
  ["child~12/a b", [{ id: "child", attempt: 12 }, { id: "a b" }]],
])("%s has its segments, and the segments make it", (path, segments) => {
  expect(parsePath(path)).toEqual(segments);
  expect(formatPath(segments)).toBe(path);
});

test.each([
  "",
  "/a",
  "a/",
  "a//b",
  "a[1]",
  "a~2",
  "a~1/b",
  "a~0/b",
  "a~02/b",
  "a[01]/b",
  "a[-1]/b",
  "a[]/b",
  "a[1/b",
  "a]/b",
  "a[1][2]/b",
  "a[1]~2/b",
  "[1]/b",
  "~2/b",
  "a[1]x/b",
  "a[99999999999999999999]/b",
  "x".repeat(513),
  Array(17).fill("a").join("/"),
])("%j is no path", (path) => {
  expect(() => parsePath(path)).toThrow(EventParseError);
  expect(() => parsePath(path)).toThrow(/node path/);
});

test("attempt 1 is not written, for it has one spelling", () => {
  expect(formatPath([{ id: "a", attempt: 1 }, { id: "b" }])).toBe("a/b");
});

test("segments that make no path are refused", () => {
  expect(() => formatPath([])).toThrow(EventParseError);
  expect(() => formatPath([{ id: "a/b" }])).toThrow(EventParseError);
  expect(() => formatPath([{ id: "a", index: 1 }])).toThrow(EventParseError);
});

const id = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[/[\]~]/.test(text));
const inner: fc.Arbitrary<PathSegment> = fc.record(
  { id, attempt: fc.integer({ min: 2, max: 99 }), index: fc.nat() },
  { requiredKeys: ["id"] },
);

test("every list of segments comes back from its path", () => {
  holds(
    fc.property(fc.array(inner, { maxLength: 15 }), id, (around, last) => {
      const segments = [...around, { id: last }];
      expect(parsePath(formatPath(segments))).toEqual(segments);
    }),
  );
});
