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
/** Space and comments before the first word. */
const BEFORE = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|;)+/;

/** What is wrong with a statement before anybody is asked; undefined: nothing. */
export function problemOf(statement: string): string | undefined {
  const text = statement.replace(BEFORE, "");
  if (text === "") return "the statement is empty";
  const word = CONTROL.exec(text)?.[0];
  return word === undefined
    ? undefined
    : `${word.toUpperCase()} is no statement of a node: each node is one transaction`;
}

/** Findings of a statement before the run; one that the flow computes is not known yet. */
export function findings(pointer: string, statement: string | undefined): readonly FieldFinding[] {
  const message = statement === undefined ? undefined : problemOf(statement);
  return message === undefined
    ? []
    : [{ pointer, code: "sql_statement", message, severity: "error" }];
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
