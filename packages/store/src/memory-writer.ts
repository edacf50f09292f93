/** A writer without a thread: the database lies in this process, and nothing outlives it. */
import { StoreError } from "./errors.ts";
import { toStoreError } from "./reader.ts";
import type { SqliteDb } from "./sqlite-port.ts";
import { createUnits, type UnitAnswer } from "./units.js";
import { errorOf, type Op, type OpResult, type Writer } from "./writer.ts";

/** Writes units at once, each in a transaction of its own. */
export function createMemoryWriter(db: SqliteDb): Pick<Writer, "write"> {
  const { perform } = createUnits(db);
  const begin = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  return {
    async write(ops: readonly Op[]): Promise<readonly OpResult[]> {
      const answer = performed(ops);
      if ("results" in answer) return answer.results;
      throw errorOf(answer.code, answer.message);
    },
  };

  function performed(ops: readonly Op[]): UnitAnswer {
    try {
      begin.run([]);
    } catch (cause) {
      throw new StoreError("store_unavailable", "the store is closed", { cause });
    }
    try {
      const answer = perform({ id: 0, ops });
      if ("code" in answer) db.exec("ROLLBACK");
      else commit.run([]);
      return answer;
    } catch (error) {
      db.exec("ROLLBACK");
      throw toStoreError(error, "the store cannot be written");
    }
  }
}
