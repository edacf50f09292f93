/** Three servers on one store, of which PostgreSQL says who drives a run: whichever is asked, and whichever drives a run, they do what one does. */
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createRandom } from "@millrace/engine/testing";
import { createPostgresDispatcher, openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { anyOf, executorConformance } from "@millrace/test-support/executor";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { test } from "vitest";
import { createSharedExecutor } from "../../server/src/executor/index.ts";
import { KEY, newSchema } from "./open.ts";

const SERVERS = 3;
const random = createRandom(5);
const pick = (count: number): number => random.integer(0, Math.max(0, count - 1));

async function startServer(schema: string) {
  const { url } = await sharedPostgres();
  const store = await openPostgresStore({ url, schema, key: KEY, connections: 6 });
  const engine = createEngine({ host: createNodeHost(), journal: store.journal });
  const dispatcher = createPostgresDispatcher({ store });
  const executor = createSharedExecutor({ engine, store, dispatcher, kind: "postgres" });
  await executor.recover();
  return {
    executor,
    async close() {
      await executor.close();
      await store.close();
    },
  };
}

describeWith("postgres")("three servers", () => {
  const cases = executorConformance(async () => {
    const schema = newSchema();
    const starts = Array.from({ length: SERVERS }, () => startServer(schema));
    const servers = await Promise.all(starts);
    return {
      executor: anyOf(
        servers.map(({ executor }) => executor),
        pick,
      ),
      async close() {
        await Promise.all(servers.map((server) => server.close()));
      },
    };
  });
  test.each(cases)("$name", ({ run }) => run());
});
