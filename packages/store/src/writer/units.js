/** Units of writing: reading them from a message, and one inside of a transaction. Plain JavaScript for the writer thread; its types are in `units.d.ts`. */
import { faultOf } from "../sqlite/sqlite.js";

const HEAD_BYTES = 16; // of a packed line: two doubles

const LINES = -1; // in the place of the number of a statement
const EXEC = -2;

const COLUMNS = 5; // of the statements for many rows
const ROWS_AT_ONCE = [64, 16, 4, 1]; // a call of the library costs as much as a row

const rowsOf = (count) => `VALUES ${Array(count).fill("(?, ?, ?, ?, ?)").join(", ")}`;
const textsOf = (textOf) => ROWS_AT_ONCE.map((count) => [count, textOf(count)]);

const INSERT = textsOf((count) => `INSERT INTO journal(run, seq, kind, ts, line) ${rowsOf(count)}`);

/** Moves the end of logs, each by its owner alone. */
const MOVE = textsOf((count) =>
  count === 1
    ? "UPDATE run SET last_seq = ? WHERE no = ? AND id = ? AND epoch = ? AND last_seq = ?"
    : `UPDATE run SET last_seq = v.column1 FROM (${rowsOf(count)}) AS v ` +
      "WHERE no = v.column2 AND id = v.column3 AND epoch = v.column4 AND last_seq = v.column5",
);

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
        const [run, runId, epoch, after, count, kinds, from] = words.slice(at, at + 7);
        at += 7;
        return { lines: { run, runId, epoch, after, count, kinds, block, at: from } };
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
    performTogether,
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
      if (!isOwn(error)) throw error;
      return { id, code: error.code, message: error.message };
    }
  }

  /** Appends to different runs that stand side by side share their statements. Throws failures of the store. */
  function performTogether(units) {
    const answers = [];
    try {
      for (const group of groupsOf(units)) {
        append(group.flatMap(({ ops }) => ops[0]?.lines ?? []));
        for (const { id, ops, quiet } of group) {
          const results = ops.map((op) => op.lines?.count ?? apply(op));
          answers.push(quiet ? { id } : { id, results });
        }
      }
    } catch (error) {
      if (!isOwn(error)) throw error;
      return undefined;
    }
    return answers;
  }

  function apply(op) {
    if (op.lines !== undefined) {
      append([op.lines]);
      return op.lines.count;
    }
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

  /** Appends to different runs. Throws when one of them has another owner, or another last event. */
  function append(all) {
    const owners = [];
    const rows = [];
    for (const { run, runId, epoch, after, count, kinds, block, at: from } of all) {
      owners.push(after + count, run, runId, epoch, after);
      const names = kinds.split(" ");
      const heads = new Float64Array(block, from, count * 2);
      const bytes = new Uint8Array(block, from + count * HEAD_BYTES);
      let start = 0;
      for (let at = 0; at < count; at += 1) {
        const end = heads[at * 2 + 1];
        rows.push(run, after + 1 + at, names[at], heads[at * 2], bytes.subarray(start, end));
        start = end;
      }
    }
    if (changedBy(MOVE, owners) !== all.length) throw new Refused("lease_lost");
    changedBy(INSERT, rows);
  }

  /** Runs a statement for rows of five values, as many at once as there are. */
  function changedBy(texts, values) {
    let changes = 0;
    let at = 0;
    for (const [count, sql] of texts) {
      const size = count * COLUMNS;
      for (; values.length - at >= size; at += size) {
        changes += statementOf(sql).run(values.slice(at, at + size)).changes;
      }
    }
    return changes;
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

/** Units side by side that begin with appends to different runs; every other unit by itself. */
function groupsOf(units) {
  const groups = [];
  const runs = new Set();
  for (const unit of units) {
    const run = unit.ops[0]?.lines?.run;
    const isNext = run !== undefined && runs.size > 0 && !runs.has(run);
    if (isNext) groups.at(-1).push(unit);
    else {
      groups.push([unit]);
      runs.clear();
    }
    if (run !== undefined) runs.add(run);
  }
  return groups;
}

const isOwn = (error) => error instanceof Refused || faultOf(error) === "CONSTRAINT";
