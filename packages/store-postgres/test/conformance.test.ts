/** The suite of all stores over PostgreSQL: a place is a schema. */
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { storeConformance } from "@millrace/test-support/store";
import { expect, onTestFinished, test } from "vitest";
import { KEY, newSchema } from "./open.ts";

describeWith("postgres")("in a schema", () => {
  storeConformance("PostgreSQL", async () => {
    const { url } = await sharedPostgres();
    const place = { url, key: KEY, schema: newSchema(), connections: 4 };
    return { open: (options) => openPostgresStore({ ...place, ...options }) };
  });

  test("settings that one server has kept are let go when another one sets them", async () => {
    const { url } = await sharedPostgres();
    const place = { url, key: KEY, schema: newSchema(), connections: 2 };
    const one = await openPostgresStore(place);
    onTestFinished(() => one.close());
    const other = await openPostgresStore(place);
    onTestFinished(() => other.close());
    expect(await other.settings.all()).toEqual({});
    await one.settings.set({ "run.concurrency": 3 });
    await expect.poll(() => other.settings.all()).toEqual({ "run.concurrency": 3 });
  });
});
