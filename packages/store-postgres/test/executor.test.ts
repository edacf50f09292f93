import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { executorConformance } from "@millrace/test-support/executor";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { test } from "vitest";
import { createLocalExecutor } from "../../server/src/executor/index.ts";
import { KEY, newSchema } from "./open.ts";

describeWith("postgres")("the executor of one server over PostgreSQL", () => {
  const cases = executorConformance(async () => {
    const { url } = await sharedPostgres();
    const store = await openPostgresStore({ url, key: KEY, schema: newSchema() });
    const engine = createEngine({ host: createNodeHost(), journal: store.journal });
    const executor = createLocalExecutor({ engine, store });
    await executor.recover();
    return {
      executor,
      async close() {
        await executor.close({ graceMs: 0 });
        await store.close();
      },
    };
  });
  test.each(cases)("$name", ({ run }) => run());
});
