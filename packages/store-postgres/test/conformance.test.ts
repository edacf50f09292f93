/** The suite of all stores over PostgreSQL: a place is a schema. */
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { storeConformance } from "@millrace/test-support/store";
import { KEY, newSchema } from "./open.ts";

describeWith("postgres")("in a schema", () => {
  storeConformance("PostgreSQL", async () => {
    const { url } = await sharedPostgres();
    const place = { url, key: KEY, schema: newSchema(), connections: 4 };
    return { open: (options) => openPostgresStore({ ...place, ...options }) };
  });
});
