/** The laws of the text form over odd seeds, among them those of large graphs. */

import { MAX_JSON_DEPTH } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import { expect, test } from "vitest";
import { largeGraph } from "./generate.ts";
import { Random } from "./random.ts";
import { checkSeed } from "./run-seed.ts";
import { testSeeds } from "./seeds.ts";

testSeeds(1);

test("a large graph holds every law", () => {
  const graph = largeGraph(new Random(1), casesOf(10_000));
  expect(checkSeed(1999, undefined, { graph })).toEqual([]);
}, 300_000);

test("the depth limit of a text is the one of the platform", () => {
  const nested = (depth: number): string =>
    `flow 1 deep\n\nnode a: t {\n  v = ${"[".repeat(depth)}${"]".repeat(depth)}\n}\n`;
  expect(parseFlow(nested(MAX_JSON_DEPTH)).ok).toBe(true);
  expect(parseFlow(nested(MAX_JSON_DEPTH + 1)).ok).toBe(false);
});
