/** The suite of all stores over files, by each library. */
import { createMemoryJournal } from "@millrace/engine";
import { type DriverName, openStore } from "@millrace/store";
import { describeUnless, testUnless } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { journalConformance } from "@millrace/test-support/journals";
import { storeConformance } from "@millrace/test-support/store";
import { expect, test } from "vitest";

const hasNodeSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;
const noSqlite = hasNodeSqlite ? undefined : "no node:sqlite in this Node: it came with 22.5";

function onDisk(driver: DriverName): void {
  storeConformance(`a folder, by ${driver}`, async () => {
    const dir = temporaryFolder();
    return { open: (options) => openStore({ dir, driver, ...options }) };
  });
}

onDisk("libsql");
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
