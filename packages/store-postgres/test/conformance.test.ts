/** The suite of all stores over PostgreSQL: a place is a schema. */
import { storeOver } from "@millrace/store/sql";
import { describeWith } from "@millrace/test-support";
import { storeConformance } from "@millrace/test-support/store";
import { newSchema, openDatabase } from "./open.ts";

describeWith("postgres")("in a schema", () => {
  storeConformance("PostgreSQL", async () => {
    const schema = newSchema();
    return {
      async open({ now, keepsContent } = {}) {
        const database = await openDatabase({ schema, connections: 4 });
        if (now !== undefined) Object.defineProperty(database, "now", { value: now });
        return storeOver(database, { keepsContent });
      },
    };
  });
});
