/** `csv.read`: rows of a CSV file of any size, page by page. */
import { Readable } from "node:stream";
import {
  type ActionDefinition,
  defineAction,
  type JsonObject,
  jsonSchema,
  type NodeError,
} from "@millrace/contracts";
import { type CsvError, parse } from "csv-parse";
import { decoded, ENCODINGS, type Encoding, partsOf } from "./file-parts.ts";
import {
  beyond,
  checkNames,
  columnsField,
  headerField,
  named,
  PAGE_FIELDS,
  type Page,
  PageOfRows,
  pathField,
  placesOf,
  unreadable,
} from "./table.ts";

interface CsvReadFields extends Page {
  readonly path: string;
  readonly header?: boolean;
  readonly columns?: readonly string[];
  readonly where?: { readonly [column: string]: string };
  readonly delimiter?: string;
  readonly encoding?: Encoding;
  readonly maxBytes?: number;
}

/** A row that could not be read. */
interface BadRow {
  readonly line: number;
  readonly problem: string;
}

interface CsvReadRecord {
  readonly columns: readonly string[];
  readonly rows: readonly (JsonObject | readonly string[])[];
  readonly more: boolean;
  readonly bad: readonly BadRow[];
  readonly badCount: number;
}

const MAX_BYTES = 268_435_456;
/** Characters of one row; more is a quote that nobody closed. */
const MAX_ROW = 1_048_576;
/** Rows that are listed; all are counted. */
const MAX_BAD = 100;

export const csvRead: ActionDefinition = defineAction<CsvReadFields, CsvReadRecord>({
  name: "read",
  title: "Read CSV",
  summary: "Reads rows of a CSV file of any size; those that cannot be read are listed.",
  fields: jsonSchema<CsvReadFields>({
    type: "object",
    required: ["path"],
    additionalProperties: false,
    properties: {
      path: pathField,
      header: headerField,
      columns: columnsField,
      where: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "Only rows whose columns have these texts.",
      },
      delimiter: {
        type: "string",
        pattern: '^[^"\\r\\n]$',
        default: ",",
        description: "What parts cells.",
      },
      encoding: {
        enum: [...ENCODINGS],
        default: "auto",
        description: "auto: by the mark of order, else UTF-8. latin1 is windows-1252.",
      },
      ...PAGE_FIELDS,
      maxBytes: {
        type: "integer",
        minimum: 1,
        default: MAX_BYTES,
        description: "Bytes of the file that are read; a page that ends before is no part of it.",
      },
    },
  }),
  output: jsonSchema<CsvReadRecord>({
    type: "object",
    required: ["columns", "rows", "more", "bad", "badCount"],
    properties: {
      columns: { type: "array", items: { type: "string" } },
      rows: {
        type: "array",
        items: {
          anyOf: [
            { type: "object", additionalProperties: { type: "string" } },
            { type: "array", items: { type: "string" } },
          ],
        },
        "x-millrace": { untrusted: true },
      },
      more: { type: "boolean", description: "Whether rows follow the page." },
      bad: {
        type: "array",
        items: {
          type: "object",
          required: ["line", "problem"],
          properties: { line: { type: "integer" }, problem: { type: "string" } },
        },
        description: `Rows that cannot be read, of those that were looked at; at most ${MAX_BAD}.`,
      },
      badCount: { type: "integer", description: "How many there are." },
    },
  }),
  effect: "read",
  defaults: { policy: { timeoutMs: 600_000 } },
  async run(fields, ctx) {
    const { path, encoding = "auto", maxBytes = MAX_BYTES } = fields;
    const table = new CsvTable(fields);
    const text = Readable.from(decoded(partsOf(ctx, path, maxBytes), encoding));
    const parser = parse({
      delimiter: fields.delimiter ?? ",",
      record_delimiter: ["\r\n", "\n"],
      info: true,
      relax_column_count: true, // rows of another length are listed by us, with their line
      skip_empty_lines: true,
      skip_records_with_error: true,
      max_record_size: MAX_ROW,
    });
    parser.on("skip", (error: CsvError) => {
      if (error.code === "CSV_MAX_RECORD_SIZE") {
        parser.destroy(beyond("row", `line ${error["lines"]} has more than ${MAX_ROW} characters`));
      } else table.bad(Number(error["lines"]), problemOf(error));
    });
    text.on("error", (error) => parser.destroy(error));
    text.pipe(parser);
    try {
      for await (const { record, info } of parser) {
        const cells = record as readonly string[];
        if (!table.take(cells, info.lines - cells.join("").split("\n").length + 1)) break;
      }
    } finally {
      text.destroy();
    }
    return table.record();
  },
});

/** Gathers what is wanted of the rows. */
class CsvTable {
  readonly #fields: CsvReadFields;
  readonly #page: PageOfRows<JsonObject | readonly string[]>;
  readonly #bad: BadRow[] = [];
  #badCount = 0;
  #names: readonly string[] | undefined;
  #wanted: readonly string[] = [];
  #places: readonly number[] = [];
  #where: readonly (readonly [place: number, text: string])[] = [];

  constructor(fields: CsvReadFields) {
    checkNames(fields);
    this.#fields = fields;
    this.#page = new PageOfRows(fields);
  }

  /** False: nothing more is wanted. */
  take(cells: readonly string[], line: number): boolean {
    if (this.#fields.header === false) return this.#page.take(() => cells);
    if (this.#names === undefined) {
      if (this.#bad.some((bad) => bad.line < line)) throw this.#noNames();
      this.#begin(cells);
      return true;
    }
    if (cells.length !== this.#names.length) {
      this.bad(line, `${cells.length} cells below ${this.#names.length} names`);
      return true;
    }
    if (this.#where.some(([place, text]) => cells[place] !== text)) return true;
    const row = () =>
      named(
        this.#wanted,
        this.#places.map((place) => cells[place] ?? ""),
      );
    return this.#page.take(row);
  }

  bad(line: number, problem: string): void {
    this.#badCount += 1;
    if (this.#bad.length < MAX_BAD) this.#bad.push({ line, problem });
  }

  record(): CsvReadRecord {
    if (this.#names === undefined && this.#badCount > 0 && this.#fields.header !== false) {
      throw this.#noNames();
    }
    const { rows, more } = this.#page;
    const bad = this.#bad.sort((a, b) => a.line - b.line); // those without an end are found before
    return { columns: this.#wanted, rows, more, bad, badCount: this.#badCount };
  }

  /** A row of data must not become the names. */
  #noNames(): NodeError {
    const [{ line = 1, problem = "" } = {}] = this.#bad;
    return unreadable("csv_header", `line ${line}, before the names of the columns: ${problem}`);
  }

  #begin(names: readonly string[]): void {
    const { columns = names, where = {} } = this.#fields;
    this.#names = names;
    this.#wanted = columns;
    this.#places = placesOf(names, columns);
    const asked = Object.entries(where);
    const places = placesOf(
      names,
      asked.map(([name]) => name),
    );
    this.#where = asked.map(([, text], at) => [places[at] as number, text]);
  }
}

/** Without what the file holds. */
function problemOf({ code }: CsvError): string {
  if (code === "CSV_QUOTE_NOT_CLOSED") return "a quote is not closed before the end of the file";
  if (code === "CSV_INVALID_CLOSING_QUOTE") return "text behind a closing quote";
  if (String(code) === "INVALID_OPENING_QUOTE") return "a quote in a cell that begins without one";
  return "it is no row of CSV";
}
