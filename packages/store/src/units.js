/** One unit of writing inside of a transaction: all of its operations or none. Plain JavaScript for the writer thread. */
import { faultOf } from "./sqlite.js";

class Refused extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

export function createUnits(db) {
  const prepared = new Map();
  const save = db.prepare("SAVEPOINT unit");
  const release = db.prepare("RELEASE unit");

  /** Writes a unit. Refusals of its own rows are its answer; what is wrong with the store is thrown. */
  return function perform({ id, ops }) {
    save.run([]);
    try {
      const results = ops.map(apply);
      release.run([]);
      return { id, results };
    } catch (error) {
      const isOwn = error instanceof Refused || faultOf(error) === "CONSTRAINT";
      if (!isOwn) throw error;
      db.exec("ROLLBACK TO unit; RELEASE unit");
      return { id, code: error.code, message: error.message };
    }
  };

  function apply({ sql, rows, need, get }) {
    const statement = statementOf(sql);
    let result = get ? undefined : 0;
    for (const row of rows) {
      if (get) result = statement.get(row);
      else result += statement.run(row).changes;
    }
    if (need !== undefined && (result === undefined || result === 0)) throw new Refused(need);
    return result;
  }

  function statementOf(sql) {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  }
}
