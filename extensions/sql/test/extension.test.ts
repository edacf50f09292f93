/** The laws of extensions, over a database in memory. */
import { fileURLToPath } from "node:url";
import { conformance, createTestHost } from "@millrace/testkit";
import { expect, test } from "vitest";
import extension from "../src/extension.ts";

const folder = fileURLToPath(new URL("..", import.meta.url));
const cases = conformance(extension, {
  fixtures: { "sql.query": [{ fields: { statement: "select 1 as one" }, fails: "sql_address" }] },
  package: folder,
});
for (const { name, run } of cases) test(name, run, 60_000);

test("a parameter is only data", async () => {
  const secrets = { DATABASE_URL: "sqlite:/:memory:" };
  const t = createTestHost({ extension, secrets });
  expect(
    await t.run("sql.query", {
      statement: "select ? as said",
      parameters: ["'; drop table x; --"],
    }),
  ).toEqual({ rows: [{ said: "'; drop table x; --" }] });
});
