/** What every store does alike, whichever database is behind it. */
import { describe, onTestFinished, test } from "vitest";
import { journalConformance } from "../journals.ts";
import type { StoreBench, StorePlace } from "./bench.ts";
import { failuresSuite } from "./failures.ts";
import { feedSuite } from "./feed.ts";
import { followSuite } from "./follow.ts";
import { retentionSuite } from "./retention.ts";
import { runsSuite } from "./runs.ts";
import { schedulesSuite } from "./schedules.ts";
import { sealSuite } from "./seal.ts";
import { sharingSuite } from "./sharing.ts";
import { startRowsSuite } from "./start-rows.ts";
import { tablesSuite } from "./tables.ts";

export type { StoreOpening, StorePlace } from "./bench.ts";
export { appendAll, linesOf, logOf, startRun } from "./logs.ts";
export { linesOfText, TS } from "./long-log.ts";

export interface StoreConformanceOptions {
  /** False: a store is gone when it is closed, so what a restart shows is not tested. Default true. */
  readonly outlives?: boolean;
}

/** Declares the suite for stores of this name; each test gets a place of its own. */
export function storeConformance(
  name: string,
  newPlace: () => Promise<StorePlace>,
  { outlives = true }: StoreConformanceOptions = {},
): void {
  const closing = (place: StorePlace): StorePlace => ({
    async open(options) {
      const store = await place.open(options);
      onTestFinished(() => store.close());
      return store;
    },
  });
  const bench: StoreBench = {
    newStore: async (options = {}) => closing(await newPlace()).open(options),
    testRestart(title, body) {
      if (outlives) test(title, async () => body(closing(await newPlace())));
    },
  };
  describe(`a store in ${name}`, () => {
    describe("its journal", () => {
      const cases = journalConformance(async ({ now }) => (await newPlace()).open({ now }));
      test.each(cases)("$name", ({ run }) => run());
    });
    runsSuite(bench);
    feedSuite(bench);
    failuresSuite(bench);
    followSuite(bench);
    startRowsSuite(bench);
    sealSuite(bench);
    schedulesSuite(bench);
    tablesSuite(bench);
    retentionSuite(bench);
    sharingSuite(bench);
  });
}
