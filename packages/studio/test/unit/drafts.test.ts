/** Drafts in the storage of a browser, which may be forbidden or hold what is no draft. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { draftsIn } from "../../src/page/state/drafts.ts";
import { guarded } from "../../src/page/state/storage.ts";
import { storage } from "./storage.ts";

test("a storage that the browser forbids keeps nothing and does not throw", () => {
  const forbidden = guarded(() => {
    throw new DOMException("denied", "SecurityError");
  });
  expect(forbidden.get("a")).toBeNull();
  expect(forbidden.set("a", "b")).toBe(false);
  expect(forbidden.keys()).toEqual([]);
  forbidden.remove("a");
});

test("a storage that something else has written to is no draft", () => {
  const kept = storage();
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (value) => {
      kept.set("millrace.draft.demo@b", value);
      const draft = draftsIn(kept, "a").read("demo");
      if (draft !== undefined) expect(typeof draft.text).toBe("string");
    }),
  );
});
