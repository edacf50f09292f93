/** A share of the seeds, and a test for each law over them. */
import { casesOf } from "@millrace/test-support";
import { beforeAll, describe, expect, test } from "vitest";
import { LAWS } from "./laws.ts";
import { checkSeed, type Failure } from "./run-seed.ts";

const { MILLRACE_LAW_RUNS = casesOf(1_000), MILLRACE_LAW_SEED = "0" } = process.env;

const RUNS = Number(MILLRACE_LAW_RUNS);
const FIRST = Number(MILLRACE_LAW_SEED);

/** Files that share the seeds, so that each core has one. */
const FILES = 2;

/** Checks every law for every second seed, beginning with the `file`th. */
export function testSeeds(file: number): void {
  describe(`${RUNS} seeds from ${FIRST}, those of file ${file + 1} of ${FILES}`, () => {
    const failures: Failure[] = [];
    beforeAll(
      () => {
        for (let seed = FIRST + file; seed < FIRST + RUNS; seed += FILES) {
          failures.push(...checkSeed(seed));
          if (failures.length > 3) return;
        }
      },
      120_000 + RUNS * 50,
    );

    test.each(LAWS)("$id: $says", ({ id }) => {
      expect(failures.filter(({ law }) => law === id)).toEqual([]);
    });
  });
}
