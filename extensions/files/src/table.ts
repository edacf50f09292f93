/** Rows, columns and limits, as CSV and spreadsheets have them in common. */
import { type Json, type JsonObject, NodeError } from "@millrace/contracts";

/** A row by the names of its columns, or by their order. */
export type Row = JsonObject | readonly Json[];

export const pathField: JsonObject = {
  type: "string",
  description: "File below the root, relative, with /.",
  "x-millrace": { sink: "path" },
};

export const headerField: JsonObject = {
  type: "boolean",
  default: true,
  description: "Whether the first row names the columns; without it rows are lists.",
};

export const columnsField: JsonObject = {
  type: "array",
  items: { type: "string" },
  minItems: 1,
  description: "Names of the columns that are wanted, in this order; default all.",
};

export const rowsField: JsonObject = {
  type: "array",
  items: { anyOf: [{ type: "object", additionalProperties: true }, { type: "array" }] },
  description: "Objects by the names of columns, or lists.",
};

export const modeField: JsonObject = {
  enum: ["create", "replace"],
  default: "create",
  description: "create fails where a file is; replace is all or nothing.",
};

const MOST_ROWS = 1_000_000;
/** Bytes of the rows of an answer as JSON: the largest output of a node. */
const MAX_ANSWER = 4_194_304;

/** Fields that say which rows are wanted. */
export const PAGE_FIELDS: { readonly [field: string]: JsonObject } = {
  offset: { type: "integer", minimum: 0, default: 0, description: "Rows that are left out first." },
  limit: {
    type: "integer",
    minimum: 0,
    maximum: MOST_ROWS,
    description: "Rows of a page; more says whether others follow. Default all, at most maxRows.",
  },
  maxRows: {
    type: "integer",
    minimum: 1,
    maximum: MOST_ROWS,
    default: 10_000,
    description: "Without limit: more rows fail instead of being left out.",
  },
};

/** What a page of rows is cut by. */
export interface Page {
  readonly offset?: number;
  readonly limit?: number;
  readonly maxRows?: number;
}

/** Gathers the rows of a page. Throws `limit_exceeded` where there are too many for one answer. */
export class PageOfRows<T> {
  readonly rows: T[] = [];
  more = false;
  readonly #page: Page;
  #seen = 0;
  #bytes = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  /** False: nothing more is wanted. */
  take(row: () => T): boolean {
    const { offset = 0, limit, maxRows = 10_000 } = this.#page;
    this.#seen += 1;
    if (this.#seen <= offset) return true;
    if (limit !== undefined && this.rows.length >= limit) {
      this.more = true;
      return false;
    }
    if (limit === undefined && this.rows.length >= maxRows) {
      throw beyond(
        "maxRows",
        `there are more than ${maxRows} rows; give limit and offset to read pages`,
      );
    }
    const taken = row();
    this.#bytes += Buffer.byteLength(JSON.stringify(taken)) + 1;
    if (this.#bytes > MAX_ANSWER) {
      const what = `the rows have more than ${MAX_ANSWER} bytes`;
      throw beyond("answer", `${what}; read smaller pages, or fewer columns`);
    }
    this.rows.push(taken);
    return true;
  }
}

/** Where the wanted columns are in a row. Throws `column_unknown`, `columns_equal`. */
export function placesOf(names: readonly string[], wanted: readonly string[] = names): number[] {
  const places = new Map(names.map((name, at) => [name, at]));
  const double = names.find((name, at) => places.get(name) !== at);
  if (double !== undefined) {
    throw unreadable(
      "columns_equal",
      `two columns have the name ${shown(double)}; read without header`,
    );
  }
  return wanted.map((name) => {
    const at = places.get(name);
    if (at !== undefined) return at;
    const known = names.slice(0, 20).map(shown).join(", ");
    throw unreadable("column_unknown", `there is no column ${shown(name)}; there are ${known}`);
  });
}

/** Throws `field_invalid` for names of columns where no row has them. */
export function checkNames(fields: {
  readonly header?: boolean;
  readonly columns?: unknown;
  readonly where?: unknown;
}): void {
  if (fields.header !== false) return;
  const given = (["columns", "where"] as const).find((name) => fields[name] !== undefined);
  if (given !== undefined) throw badField(`${given}: without header no column has a name`);
}

/** The names of all columns in the order in which they come, and the rows as lists. Throws `field_invalid` for mixed rows. */
export function tableOf(
  rows: readonly Row[],
  columns?: readonly string[],
): { readonly names: readonly string[]; readonly lists: readonly (readonly Json[])[] } {
  const lists = rows.filter((row) => Array.isArray(row));
  if (lists.length === rows.length) return { names: columns ?? [], lists };
  if (lists.length > 0) throw badField("rows: all are objects, or all are lists");
  const objects = rows as readonly JsonObject[];
  const names = columns ?? [...new Set(objects.flatMap((row) => Object.keys(row)))];
  return {
    names,
    lists: objects.map((row) =>
      names.map((name) => (Object.hasOwn(row, name) ? (row[name] ?? null) : null)),
    ),
  };
}

/** A row as an object; a column that is named `__proto__` is one like the others. */
export function named<T>(names: readonly string[], cells: readonly T[]): { [name: string]: T } {
  return Object.fromEntries(names.map((name, at) => [name, cells[at] as T]));
}

/** A limit, by the name under which it is set. */
export function beyond(limit: string, what: string): NodeError {
  return new NodeError("limit_exceeded", `limit ${limit}: ${what}`, { reason: "limit" });
}

export function unreadable(code: string, message: string): NodeError {
  return new NodeError(code, message, { reason: "input" });
}

export function badField(message: string): NodeError {
  return new NodeError("field_invalid", message, { reason: "input", sent: false });
}

const MAX_SHOWN = 64;

/** A text as JSON, cut. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
