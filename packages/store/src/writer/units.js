/** Units of writing: reading them from a message, and one inside of a transaction. Plain JavaScript for the writer thread; its types are in `units.d.ts`. */
import { faultOf } from "../sqlite/sqlite.js";

const HEAD_BYTES = 16; // of a packed line: two doubles
const COLUMNS = "run, seq, kind, ts, line";
const LINES_AT_ONCE = [64, 16, 4, 1]; // a call of the library costs more than a row

const LINES = -1; // in the place of the number of a statement
const EXEC = -2;

/** Reads the messages of one writer, which are as `packed-units.ts` says. */
export function createUnpacker() {
  const known = [];
  return ({ sql, words, block }) => {
    known.push(...sql);
    const units = [];
    let at = 0;
    const next = () => words[at++];
    const readOp = () => {
      const statement = next();
      if (statement === EXEC) return { exec: next() };
      if (statement === LINES) {
        const [run, seq, count, kinds, from] = words.slice(at, at + 5);
        at += 5;
        return { lines: { run, seq, count, kinds, block, at: from } };
      }
      const need = next() ?? undefined;
      const get = next() === 1;
      const count = next();
      const columns = next();
      const rows = [];
      for (let row = 0; row < count; row += 1, at += columns) {
        rows.push(words.slice(at, at + columns));
      }
      return { sql: known[statement], rows, need, get };
    };
    while (at < words.length) {
      const unit = { id: next(), sync: next() === 1, bytes: next(), records: next() };
      const quiet = next() === 1;
      const ops = Array.from({ length: next() }, readOp);
      units.push({ ...unit, quiet, ops });
    }
    return units;
  };
}

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

  return {
    /** Writes a unit that is alone in its transaction: a refusal of its own rows is the answer, and the caller rolls back. */
    perform,
    /** Writes one unit of several, whole or not at all, whatever becomes of the others. */
    performApart(unit) {
      save.run([]);
      const answer = perform(unit);
      if ("code" in answer) db.exec("ROLLBACK TO unit; RELEASE unit");
      else release.run([]);
      return answer;
    },
  };

  /** Throws failures of the store; failures of the unit are returned. */
  function perform({ id, ops, quiet }) {
    try {
      const results = ops.map(apply);
      return quiet ? { id } : { id, results };
    } catch (error) {
      const isOwn = error instanceof Refused || faultOf(error) === "CONSTRAINT";
      if (!isOwn) throw error;
      return { id, code: error.code, message: error.message };
    }
  }

  function apply(op) {
    if (op.lines !== undefined) return insert(op.lines);
    if (op.exec !== undefined) {
      db.exec(op.exec);
      return 0;
    }
    const { sql, rows, need, get } = op;
    const statement = statementOf(sql);
    let result = get ? undefined : 0;
    for (const row of rows) {
      if (get) result = statement.get(row);
      else result += statement.run(row).changes;
    }
    if (need !== undefined && (result === undefined || result === 0)) throw new Refused(need);
    return result;
  }

  /** Rows of the journal, as many with one statement as there are. */
  function insert({ run, seq, count, kinds, block, at: from }) {
    const names = kinds.split(" ");
    const heads = new Float64Array(block, from, count * 2);
    const bytes = new Uint8Array(block, from + count * HEAD_BYTES);
    let start = 0;
    let at = 0;
    for (const size of LINES_AT_ONCE) {
      while (count - at >= size) {
        const values = [];
        for (const until = at + size; at < until; at += 1) {
          const end = heads[at * 2 + 1];
          values.push(run, seq + at, names[at], heads[at * 2], bytes.subarray(start, end));
          start = end;
        }
        statementOf(insertOf(size)).run(values);
      }
    }
    return count;
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

const INSERTS = new Map(
  LINES_AT_ONCE.map((size) => [
    size,
    `INSERT INTO journal(${COLUMNS}) VALUES ${Array(size).fill("(?, ?, ?, ?, ?)").join(", ")}`,
  ]),
);
const insertOf = (size) => INSERTS.get(size);
