/**
 * SQLite, by libsql: a connection and a transaction for each node.
 *   L1  A node that does not write opens the file for reading alone.
 *   L2  A file that is not there is a failure, and no new database.
 *   L3  SQLite would run the first of several statements, and take NULL for a parameter that is not given: both are refused.
 */
import { pathToFileURL } from "node:url";
import { type Json, NodeError } from "@millrace/contracts";
import Database from "libsql";
import {
  bytesOf,
  jsonOf,
  type Result,
  Rows,
  refused,
  type Statement,
  TIMEOUT_MS,
  type Work,
} from "./statement.ts";

/** Runs statements in one transaction. Throws `NodeError` with a code by what went wrong, or the reason of the signal. */
export function runSqlite(path: string, work: Work): readonly Result[] {
  const { signal, writes, statements, timeoutMs = TIMEOUT_MS } = work;
  if (signal.aborted) throw signal.reason;
  const uri = `${pathToFileURL(path).href}?mode=${writes ? "rw" : "ro"}`;
  let db: Database.Database | undefined;
  try {
    db = new Database(uri, { timeout: timeoutMs });
    db.exec(writes ? "BEGIN IMMEDIATE" : "BEGIN");
    const rows = new Rows(work);
    const results = statements.map((each) => run(db as Database.Database, each, rows));
    db.exec("COMMIT");
    return results;
  } catch (error) {
    // A statement that failed may keep the file locked beyond the end of its connection.
    if (db?.inTransaction) db.exec("ROLLBACK");
    throw failureOf(error);
  } finally {
    db?.close();
  }
}

/** Texts, quoted names and comments, in which no character means anything. */
const QUIET =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

function checkParts({ statement, parameters = [] }: Statement): void {
  const text = statement.replace(QUIET, (quiet) => (/^(?:--|\/\*)/.test(quiet) ? " " : "''"));
  // The statements of a trigger end with ;, and so only its own END stands behind one: that is where SQLite takes it to end.
  const isTrigger = /^\s*create\s+(?:temp(?:orary)?\s+)?trigger\b/i.test(text);
  const more = isTrigger ? /;\s*end\s*;[\s;]*[^\s;]/i : /;[\s;]*[^\s;]/;
  if (more.test(text)) {
    throw refused("sql_statement", "multiple commands: a node has one statement, without ; in it");
  }
  if (/[:@]|(?<![\w$\u0080-\uffff])\$|\?\d/.test(text)) {
    throw refused("sql_statement", "parameters of SQLite are written ?");
  }
  const places = text.split("?").length - 1;
  if (places !== parameters.length) {
    const given = `${parameters.length} given`;
    throw refused("sql_value", `the statement has ${places} parameters, and ${given}`);
  }
}

function run(db: Database.Database, each: Statement, rows: Rows): Result {
  checkParts(each);
  const { statement, parameters = [] } = each;
  const prepared = db.prepare(statement).safeIntegers(true);
  const values = parameters.map(toParameter);
  if (!prepared.reader) {
    const { changes } = prepared.run(values);
    return { rows: [], rowCount: Number(changes) };
  }
  const names = prepared.columns().map(({ name }) => name);
  for (const row of prepared.raw(true).iterate(values)) {
    rows.add(names, (row as readonly unknown[]).map(toJson));
  }
  const taken = rows.take();
  return { rows: taken, rowCount: taken.length };
}

function toParameter(value: Json): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value !== "object" || value === null) return value;
  return bytesOf(value) ?? jsonOf(value);
}

/** Whole numbers beyond 2^53 are texts, blobs base64. */
function toJson(value: unknown): Json {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    const bytes =
      value instanceof ArrayBuffer ? Buffer.from(value) : Buffer.from(value as Uint8Array);
    return bytes.toString("base64");
  }
  return value === null ? null : String(value);
}

const FAILURES: readonly (readonly [code: RegExp, name: string, retryable: boolean])[] = [
  [/^SQLITE_(?:BUSY|LOCKED)/, "sql_conflict", true],
  [/^SQLITE_READONLY/, "sql_read_only", false],
  [/^SQLITE_CONSTRAINT/, "sql_constraint", false],
  [/^SQLITE_(?:RANGE|MISMATCH|TOOBIG)/, "sql_value", false],
  [/^SQLITE_(?:CANTOPEN|NOTADB|CORRUPT|IOERR|FULL)/, "sql_unavailable", false],
  [/^SQLITE_ERROR/, "sql_statement", false],
];

function failureOf(error: unknown): unknown {
  if (NodeError.isInstance(error)) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (/ConnectionFailed/.test(String(message))) {
    return refused("sql_unavailable", "the file of the database cannot be opened");
  }
  const name = typeof code === "string" ? code : "";
  const [, given = "sql_failed", retryable = false] =
    FAILURES.find(([pattern]) => pattern.test(name)) ?? [];
  return new NodeError(given, `${String(message)} (${name || "no code"})`, { retryable });
}
