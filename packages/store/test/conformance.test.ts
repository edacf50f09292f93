import { rmSync } from "node:fs";
import { createMemoryJournal } from "@millrace/engine";
import { type DriverName, openMemoryStore, openStore } from "@millrace/store";
import { describeUnless, testUnless } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { journalConformance } from "@millrace/test-support/journals";
import { describe, expect, test } from "vitest";

const hasNodeSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;
const noSqlite = hasNodeSqlite ? undefined : "no node:sqlite in this Node: it came with 22.5";

describe("memory", () => {
  const cases = journalConformance(async ({ now }) => ({ journal: createMemoryJournal({ now }) }));
  test.each(cases)("$name", ({ run }) => run());
});

describe("SQLite in memory", () => {
  const cases = journalConformance(async ({ now }) => openMemoryStore({ now }));
  test.each(cases)("$name", ({ run }) => run());
});

function onDisk(driver: DriverName): void {
  const cases = journalConformance(async ({ now }) => {
    const dir = temporaryFolder();
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
}

describe("libsql", () => onDisk("libsql"));
describeUnless(noSqlite)("node", () => onDisk("node"));

testUnless(hasNodeSqlite ? "this Node has node:sqlite" : undefined)(
  "a Node without node:sqlite is refused where it is asked for",
  async () => {
    await expect(openStore({ dir: temporaryFolder(), driver: "node" })).rejects.toMatchObject({
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
