/** The suite of all stores over memory. */
import { createMemoryJournal } from "@millrace/engine";
import { openMemoryStore } from "@millrace/store";
import { journalConformance } from "@millrace/test-support/journals";
import { storeConformance } from "@millrace/test-support/store";
import { describe, test } from "vitest";

storeConformance("memory", async () => ({ open: async (options) => openMemoryStore(options) }), {
  outlives: false,
});

describe("the journal of the engine", () => {
  const cases = journalConformance(async ({ now }) => ({ journal: createMemoryJournal({ now }) }));
  test.each(cases)("$name", ({ run }) => run());
});
