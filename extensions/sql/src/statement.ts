/** What is asked of a database, whichever it is, and how much may come back. */
import {
  type AbortSignalLike,
  type FieldFinding,
  type Json,
  type JsonObject,
  NodeError,
} from "@millrace/contracts";

/** Rows of one result where the field `maxRows` says nothing; more is a failure, never a part. */
export const MAX_ROWS = 1_000;
/** Rows of one result at most: whoever needs more takes them in parts, by LIMIT and a key. */
export const MOST_ROWS = 100_000;
/** Bytes of all results as JSON where `maxBytes` says nothing. */
export const MAX_BYTES = 1_048_576;
/** Bytes at most: the output of a node of an extension has 4 MiB. */
export const MOST_BYTES = 3_145_728;
/** Milliseconds for one statement where `timeoutMs` says nothing; below the time limit of a node, so that the database says it. */
export const TIMEOUT_MS = 25_000;
/** Milliseconds at most. */
export const MOST_TIMEOUT_MS = 3_600_000;
/** Statements of one transaction. */
export const MOST_STATEMENTS = 1_000;

/** A statement with its parameters. */
export interface Statement {
  readonly statement: string;
  readonly parameters?: readonly Json[];
}

/** What one statement came to. */
export interface Result {
  readonly rows: readonly JsonObject[];
  /** Rows that it answered or changed. */
  readonly rowCount: number;
}

/** The limits of a node. */
export interface Limits {
  readonly maxRows?: number;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

/** Statements that belong together: all of them happen, or none. */
export interface Work extends Limits {
  readonly statements: readonly Statement[];
  /** Otherwise the database refuses to change anything. */
  readonly writes: boolean;
  readonly signal: AbortSignalLike;
}

/** Begins, ends or parts a transaction, which is the business of the node. */
const CONTROL =
  /^(?:begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction|set\s+(?:local\s+|session\s+)?(?:transaction|session\s+characteristics))\b/i;
/** What a statement that only reads begins with: READ ONLY of PostgreSQL permits COPY … TO PROGRAM, CALL and DO. */
const READS = /^(?:(?:select|with|values|table|show|explain)\b|\()/i;
/** Space and comments before the first word, of those that all databases end at the same place. */
const BEFORE = /^(?:\s|;|--[^\n\r]*(?:\r?\n|$)|\/\*(?:(?!\/\*|\*\/)[\s\S])*\*\/)+/;

/** A reason to refuse a statement, with its code. */
export interface Problem {
  readonly code: "sql_statement" | "sql_read_only";
  readonly message: string;
}

/** What is wrong with a statement before anybody is asked; undefined: nothing. */
export function problemOf(
  statement: string,
  { writes }: { readonly writes: boolean },
): Problem | undefined {
  const text = statement.replace(BEFORE, "");
  const problem = (message: string) => ({ code: "sql_statement" as const, message });
  if (text === "") return problem("the statement is empty");
  if (/^(?:--|\/\*)/.test(text)) {
    return problem("the first comment has no end, or another comment in it");
  }
  const word = CONTROL.exec(text)?.[0];
  if (word !== undefined) {
    const name = word.toUpperCase();
    return problem(`${name} is no statement of a node: each node is one transaction`);
  }
  if (writes || READS.test(text)) return undefined;
  const message =
    "a query begins with SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN; use sql.execute";
  return { code: "sql_read_only", message };
}

/** Findings of a statement before the run; one that the flow computes is not known yet. */
export function findings(
  statement: string | undefined,
  { pointer, writes }: { readonly pointer: string; readonly writes: boolean },
): readonly FieldFinding[] {
  const problem = statement === undefined ? undefined : problemOf(statement, { writes });
  return problem === undefined ? [] : [{ ...problem, pointer, severity: "error" }];
}

/** Rows as they come, up to the limits of a node. */
export class Rows {
  readonly #maxRows: number;
  #bytesLeft: number;
  readonly #maxBytes: number;
  #rows: JsonObject[] = [];

  constructor({ maxRows = MAX_ROWS, maxBytes = MAX_BYTES }: Limits) {
    this.#maxRows = maxRows;
    this.#maxBytes = maxBytes;
    this.#bytesLeft = maxBytes;
  }

  /** Takes a row. Throws `NodeError` `sql_too_large`, and `sql_columns` for two columns of one name. */
  add(names: readonly string[], values: readonly Json[]): void {
    const row: JsonObject = Object.fromEntries(names.map((name, at) => [name, values[at] ?? null]));
    if (Object.keys(row).length < names.length) {
      const twice = names.find((name, at) => names.indexOf(name) !== at);
      throw refused("sql_columns", `two columns are called ${twice}: name one of them with AS`);
    }
    if (this.#rows.length >= this.#maxRows) {
      throw refused("sql_too_large", `more than ${this.#maxRows} rows: add LIMIT, or set maxRows`);
    }
    this.#bytesLeft -= Buffer.byteLength(JSON.stringify(row));
    if (this.#bytesLeft < 0) {
      const most = `more than ${this.#maxBytes} bytes`;
      throw refused("sql_too_large", `${most}: select less, or set maxBytes`);
    }
    this.#rows.push(row);
  }

  /** The rows of one statement; the next ones are of another. */
  take(): readonly JsonObject[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

/** A failure that the same statement has again. */
export function refused(code: string, message: string): NodeError {
  return new NodeError(code, message, { retryable: false });
}

/** The bytes of `{ "base64": "…" }`; undefined for anything else. */
export function bytesOf(value: Json): Buffer | undefined {
  const { base64, ...rest } = Object(value) as { readonly base64?: unknown };
  if (typeof base64 !== "string" || Object.keys(rest).length > 0) return undefined;
  return Buffer.from(base64, "base64");
}

/** The text of an object as JSON: of `{ "json": … }` what it holds, which may be a list. */
export function jsonOf(value: JsonObject | readonly Json[]): string {
  const isMarked = Object.hasOwn(value, "json") && Object.keys(value).length === 1;
  return JSON.stringify(isMarked ? (value as JsonObject)["json"] : value);
}
