import { expect, test } from "vitest";
import { versionProblem } from "../../src/page/state/meta.ts";

test("a page works with a server of its own version and of newer minor versions", () => {
  for (const server of ["1.4.0", "1.4.2", "1.9.0"]) {
    expect(versionProblem("1.4.1", server)).toBeUndefined();
  }
});

test("a server that is older, or a major version ahead, is named with both versions", () => {
  expect(versionProblem("1.4.0", "1.3.9")).toContain(
    "1.3.9, which is older than this page (1.4.0)",
  );
  expect(versionProblem("1.4.0", "2.0.0")).toContain(
    "2.0.0, which is newer than this page (1.4.0)",
  );
  expect(versionProblem("2.0.0", "1.9.0")).toContain("older");
});
