import { rmSync } from "node:fs";
import { type DriverName, openMemoryStore, openStore } from "@millrace/store";
import { describe, expect, test } from "vitest";
import { createMemoryJournal } from "../../engine/src/index.ts";
import { journalConformance } from "../../testkit/src/index.ts";
import { newFolder } from "./folder.ts";

const HAS_NODE_SQLITE = process.getBuiltinModule?.("node:sqlite") !== undefined;

describe("memory", () => {
  const cases = journalConformance(async ({ now }) => ({ journal: createMemoryJournal({ now }) }));
  test.each(cases)("$name", ({ run }) => run());
});

describe("SQLite in memory", () => {
  const cases = journalConformance(async ({ now }) => openMemoryStore({ now }));
  test.each(cases)("$name", ({ run }) => run());
});

describe.each<DriverName>(HAS_NODE_SQLITE ? ["libsql", "node"] : ["libsql"])("%s", (driver) => {
  const cases = journalConformance(async ({ now }) => {
    const dir = newFolder();
    const store = await openStore({ dir, driver, now });
    return {
      journal: store.journal,
      async close() {
        await store.close();
        rmSync(dir, { recursive: true });
      },
    };
  });
  test.each(cases)("$name", ({ run }) => run());
});

test.skipIf(HAS_NODE_SQLITE)(
  `SKIPPED HERE: node:sqlite needs Node 22.5, this is ${process.version}; asking for it is refused`,
  async () => {
    await expect(openStore({ dir: newFolder(), driver: "node" })).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: true,
      message: expect.stringContaining("libsql"),
    });
  },
);

test("a journal that breaks the rules does not pass", async () => {
  const cases = journalConformance(async ({ now }) => {
    const inner = createMemoryJournal({ now });
    const journal = { ...inner, append: async () => undefined };
    return { journal };
  });
  const results = await Promise.allSettled(cases.map(({ run }) => run()));
  expect(results.filter(({ status }) => status === "rejected").length).toBeGreaterThan(3);
});
