/** The laws of a comparison. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { compareRuns, type Difference } from "../../src/page/screens/compare/comparison.ts";
import {
  type NodeFacts,
  pathKey,
  type RunFacts,
} from "../../src/page/screens/compare/run-facts.ts";

const facts = (path: string): fc.Arbitrary<NodeFacts> =>
  fc.record({
    path: fc.constant(path),
    state: fc.constantFrom("succeeded", "failed", "skipped", "pending", "running"),
    output: fc.option(fc.constantFrom("1", "2"), { nil: undefined }),
  });
const runs: fc.Arbitrary<RunFacts> = fc
  .uniqueArray(fc.constantFrom("a", "b", "c[0]/d", "c[1]/d", "e"))
  .chain((paths) => fc.tuple(...paths.map(facts)))
  .map((nodes) => new Map(nodes.map((node) => [node.path, node])));

test("a run compared with itself is the same everywhere", () => {
  fc.assert(
    fc.property(runs, (run) => {
      expect(compareRuns(run, run).map(({ path }) => path)).toEqual([...run.keys()]);
      expect(compareRuns(run, run).every(({ difference }) => difference === "same")).toBe(true);
    }),
  );
});

test("changing the sides changes what only one of them has, and nothing else", () => {
  const mirrored: Readonly<Record<Difference, Difference>> = {
    same: "same",
    changed: "changed",
    "only in A": "only in B",
    "only in B": "only in A",
  };
  const byPath = (a: RunFacts, b: RunFacts) =>
    new Map(compareRuns(a, b).map(({ path, difference }) => [path, difference]));
  fc.assert(
    fc.property(runs, runs, (a, b) => {
      const there = byPath(a, b);
      const back = byPath(b, a);
      expect(new Set(there.keys())).toEqual(new Set([...a.keys(), ...b.keys()]));
      for (const [path, difference] of there) expect(back.get(path)).toBe(mirrored[difference]);
    }),
  );
});

test("an item is the same whichever attempt of the node around it made it", () => {
  expect(pathKey("pages~2[3]/get")).toBe("pages[3]/get");
  expect(pathKey("pages[3]/get")).toBe("pages[3]/get");
});
