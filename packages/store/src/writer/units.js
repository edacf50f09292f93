/** Units of writing: reading them from a message, and one inside of a transaction. Plain JavaScript for the writer thread; its types are in `units.d.ts`. */
import { faultOf } from "../sqlite/sqlite.js";

const OF_EVENT = 3; // numbers

const LINES = -1; // in the place of the number of a statement
const EXEC = -2;

const ROWS_AT_ONCE = [64, 16, 4, 1]; // a call of the library costs as much as a row

/** A statement for rows of so many values, as a text for each number of rows. */
const forRows = (columns, textOf) => {
  const row = `(${Array(columns).fill("?").join(", ")})`;
  return ROWS_AT_ONCE.map((count) => ({
    size: count * columns,
    sql: textOf(`VALUES ${Array(count).fill(row).join(", ")}`),
  }));
};

const INSERT = forRows(5, (rows) => `INSERT INTO journal(run, seq, kind, ts, line) ${rows}`);

/**
 * The same for a library that takes longer to bind the five values of an event than SQLite takes to write it: the lines of many events
 * are one value, and their other members another one, in ASCII and of fixed width, from which SQL cuts each field.
 */
const LETTERS = { run: 10, seq: 10, kind: 24, ts: 16, from: 10, size: 10 };
const ENDS = { run: 10, seq: 20, kind: 44, ts: 60, from: 70, size: 80 };
const HEAD = ENDS.size;
const field = (name) => `substr(?, v.column1 + ${ENDS[name] - LETTERS[name]}, ${LETTERS[name]})`;
const number = (name) => `CAST(${field(name)} AS INTEGER)`;
const INSERT_MANY = ROWS_AT_ONCE.filter((count) => count >= 16).map((count) => ({
  count,
  sql:
    `INSERT INTO journal(run, seq, kind, ts, line) SELECT ${number("run")}, ${number("seq")}, ` +
    `rtrim(CAST(${field("kind")} AS TEXT)), ${number("ts")}, substr(?, ${number("from")}, ${number("size")}) ` +
    `FROM (VALUES ${Array.from({ length: count }, (_, n) => `(${n * HEAD + 1})`).join(", ")}) AS v`,
}));

export const ADD_TO_FEED = "INSERT INTO feed(run, seq) VALUES(?, ?)";

const FEED = forRows(2, (rows) => `INSERT INTO feed(run, seq) ${rows}`);

/** Counts the runs that have this owner, and this event as their last one. Nobody else writes until the end of the transaction. */
const HELD = forRows(
  3,
  (rows) =>
    `SELECT count(*) AS held FROM (${rows}) AS v CROSS JOIN run ON no = v.column1 WHERE epoch = v.column2 ` +
    "AND v.column3 = (SELECT coalesce(max(seq), 0) FROM journal WHERE journal.run = v.column1)",
);

/** Reads the messages of one writer, which are as `packed-units.ts` says. */
export function createUnpacker() {
  const known = [];
  return ({ texts, values, block }) => {
    known.push(...texts);
    const [count] = new Float64Array(block, 0, 1);
    const numbers = new Float64Array(block, 0, count);
    const bytes = new Uint8Array(block, count * 8);
    const units = [];
    let at = 1;
    let value = 0;
    let start = 0;
    const next = () => numbers[at++];
    const readOp = () => {
      const statement = next();
      if (statement === EXEC) return { exec: known[next()] };
      if (statement === LINES) {
        const lines = {
          run: next(),
          epoch: next(),
          after: next(),
          count: next(),
          kinds: known,
          numbers,
          at,
          bytes,
          start,
        };
        at += lines.count * OF_EVENT;
        if (lines.count > 0) start = numbers[at - 1];
        return { lines };
      }
      const need = known[next()];
      const get = next() === 1;
      const rows = Array(next());
      const columns = next();
      for (let row = 0; row < rows.length; row += 1, value += columns) {
        rows[row] = values.slice(value, value + columns);
      }
      return { sql: known[statement], rows, need, get };
    };
    while (at < count) {
      units.push({
        id: next(),
        sync: next() === 1,
        bytes: next(),
        records: next(),
        quiet: next() === 1,
        ops: Array.from({ length: next() }, readOp),
      });
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

export function createUnits(db, { bindsSlowly = false } = {}) {
  const manyAtOnce = bindsSlowly ? INSERT_MANY : [];
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

  /** Appends to different runs that stand side by side share their statements, and so do their entries of the feed. Throws failures of the store. */
  function performTogether(units) {
    const answers = [];
    try {
      for (const group of groupsOf(units)) {
        append(group.flatMap(({ ops }) => ops[0]?.lines ?? []));
        const entries = [];
        const applyApart = (op) => {
          if (op.lines !== undefined) return op.lines.count;
          if (op.sql !== ADD_TO_FEED) return apply(op);
          for (const row of op.rows) entries.push(...row);
          return op.rows.length;
        };
        for (const { id, ops, quiet } of group) {
          const results = ops.map(applyApart);
          answers.push(quiet ? { id } : { id, results });
        }
        inParts(FEED, entries, (statement, values) => statement.run(values));
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
    for (const { run, epoch, after, count, kinds, numbers, at: first, bytes, start } of all) {
      owners.push(run, epoch, after);
      let from = start;
      for (let n = 0, at = first; n < count; n += 1, at += OF_EVENT) {
        const end = numbers[at + 2];
        const kind = kinds[numbers[at + 1]];
        rows.push({ run, seq: after + 1 + n, kind, ts: numbers[at], bytes, from, end });
        from = end;
      }
    }
    let held = 0;
    inParts(HELD, owners, (statement, values) => {
      held += statement.get(values).held;
    });
    if (held !== all.length) throw new Refused("lease_lost");
    let at = 0;
    for (const { count, sql } of manyAtOnce) {
      while (rows.length - at >= count && areAlike(rows, at, at + count)) {
        insertMany(sql, rows.slice(at, at + count));
        at += count;
      }
    }
    const rest = rows.slice(at).flatMap(valuesOf);
    inParts(INSERT, rest, (statement, values) => statement.run(values));
  }

  function insertMany(sql, rows) {
    const [{ bytes, from }] = rows;
    const heads = new Uint8Array(rows.length * HEAD).fill(BLANK);
    let at = 0;
    for (const row of rows) {
      putNumber(heads, at + ENDS.run, row.run);
      putNumber(heads, at + ENDS.seq, row.seq);
      for (let n = 0; n < row.kind.length; n += 1) {
        heads[at + ENDS.seq + n] = row.kind.charCodeAt(n);
      }
      putNumber(heads, at + ENDS.ts, row.ts);
      putNumber(heads, at + ENDS.from, row.from - from + 1);
      putNumber(heads, at + ENDS.size, row.end - row.from);
      at += HEAD;
    }
    const lines = bytes.subarray(from, rows.at(-1).end);
    statementOf(sql).run([heads, heads, heads, heads, lines, heads, heads]);
  }

  /** Calls `work` with a statement and values for it, as many rows at once as there are. */
  function inParts(texts, values, work) {
    let at = 0;
    for (const { size, sql } of texts) {
      for (; values.length - at >= size; at += size) {
        work(statementOf(sql), values.slice(at, at + size));
      }
    }
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

const BLANK = 32;
const ZERO = 48;
const PLAIN_KIND = new RegExp(`^[\\w.-]{1,${LETTERS.kind}}$`);

/** Whether the lines of these rows lie one after the other, and their values fit the fields of a head. */
function areAlike(rows, first, end) {
  const { bytes } = rows[first];
  for (let at = first; at < end; at += 1) {
    const row = rows[at];
    if (row.bytes !== bytes || !PLAIN_KIND.test(row.kind)) return false;
    if (!Number.isSafeInteger(row.ts) || row.ts < 0 || row.run >= 1e10) return false;
  }
  return true;
}

/** Writes a whole number to the letters before `end`. */
function putNumber(letters, end, whole) {
  let rest = whole;
  for (let at = end - 1; ; at -= 1) {
    const next = Math.floor(rest / 10);
    letters[at] = ZERO + rest - next * 10;
    if (next === 0) return;
    rest = next;
  }
}

const valuesOf = ({ run, seq, kind, ts, bytes, from, end }) => [
  ...[run, seq, kind, ts],
  bytes.subarray(from, end),
];

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
