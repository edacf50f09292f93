import { rmSync } from "node:fs";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { type DriverName, openMemoryStore, openStore, type Store } from "@millrace/store";
import { executorConformance } from "@millrace/test-support/executor";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, test } from "vitest";
import { createLocalExecutor } from "../../server/src/executor/index.ts";

async function over(store: Store, remove: () => void = () => {}) {
  const engine = createEngine({ host: createNodeHost(), journal: store.journal });
  const executor = createLocalExecutor({ engine, store });
  await executor.recover();
  return {
    executor,
    async close() {
      await executor.close({ graceMs: 0 });
      await store.close();
      remove();
    },
  };
}

describe("memory", () => {
  const cases = executorConformance(() => over(openMemoryStore()));
  test.each(cases)("$name", ({ run }) => run());
});

const HAS_NODE_SQLITE = process.getBuiltinModule?.("node:sqlite") !== undefined;

describe.each<DriverName>(HAS_NODE_SQLITE ? ["libsql", "node"] : ["libsql"])("%s", (driver) => {
  const cases = executorConformance(async () => {
    const dir = temporaryFolder();
    const store = await openStore({ dir, driver });
    return over(store, () => rmSync(dir, { recursive: true }));
  });
  test.each(cases)("$name", ({ run }) => run());
});
