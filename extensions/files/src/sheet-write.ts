/** `sheet.write`: sheets of rows as a spreadsheet file (xlsx). Text is text there: nothing that is written is computed. */
import { type ActionDefinition, defineAction, type Json, jsonSchema } from "@millrace/contracts";
import writeWorkbook from "write-excel-file/universal";
import {
  badField,
  beyond,
  columnsField,
  headerField,
  modeField,
  pathField,
  type Row,
  rowsField,
  tableOf,
} from "./table.ts";

interface SheetFields {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns?: readonly string[];
  readonly dates?: readonly string[];
  readonly header?: boolean;
}

interface SheetWriteFields {
  readonly path: string;
  readonly sheets: readonly SheetFields[];
  readonly mode?: "create" | "replace";
}

interface SheetWriteRecord {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
}

const MAX_SHEETS = 100;
const MAX_TEXT = 32_767; // Excel specifications and limits, "Total number of characters that a cell can contain"

export const sheetWrite: ActionDefinition = defineAction<SheetWriteFields, SheetWriteRecord>({
  name: "write",
  title: "Write spreadsheet",
  summary: "Writes sheets of rows to an xlsx file; text is never a formula.",
  fields: jsonSchema<SheetWriteFields>({
    type: "object",
    required: ["path", "sheets"],
    additionalProperties: false,
    properties: {
      path: pathField,
      sheets: {
        type: "array",
        minItems: 1,
        maxItems: MAX_SHEETS,
        items: {
          type: "object",
          required: ["name", "rows"],
          additionalProperties: false,
          properties: {
            name: {
              type: "string",
              pattern: "^[^\\[\\]:*?/\\\\]{1,31}$",
              description: "At most 31 characters, none of [ ] : * ? / \\",
            },
            rows: rowsField,
            columns: {
              ...columnsField,
              description: "Names and order of the columns; default all.",
            },
            dates: {
              type: "array",
              items: { type: "string" },
              description: "Columns whose texts in ISO 8601 are written as dates.",
            },
            header: { ...headerField, description: "Whether a first row names the columns." },
          },
        },
      },
      mode: modeField,
    },
  }),
  output: jsonSchema<SheetWriteRecord>({
    type: "object",
    required: ["path", "bytes", "rows"],
    properties: {
      path: { type: "string" },
      bytes: { type: "integer" },
      rows: { type: "integer", description: "Rows of all sheets, without headers." },
    },
  }),
  effect: "write",
  async run({ path, sheets, mode = "create" }, ctx) {
    const names = sheets.map(({ name }) => name.toLowerCase());
    if (new Set(names).size < names.length) throw badField("sheets: two sheets have one name");
    const tables = sheets.map(sheetOf);
    const blob = await writeWorkbook(tables).toBlob();
    const data = new Uint8Array(await blob.arrayBuffer());
    const file = await ctx.files.write(path, data, { mode });
    const rows = sheets.reduce((sum, sheet) => sum + sheet.rows.length, 0);
    return { path: file.path, bytes: file.bytes, rows };
  },
});

type Cell =
  | string
  | number
  | boolean
  | null
  | { readonly value: Date; readonly type: DateConstructor; readonly format: string };

function sheetOf({ name, rows, columns, dates = [], header = true }: SheetFields) {
  const { names, lists } = tableOf(rows, columns);
  const unknown = dates.find((date) => !names.includes(date));
  if (unknown !== undefined) throw badField("dates: a name is that of no column");
  const isDate = names.map((each) => dates.includes(each));
  const data: Cell[][] = lists.map((row) =>
    row.map((value, at) => (isDate[at] === true ? dateOf(value) : cellOf(value))),
  );
  if (header && names.length > 0) data.unshift([...names]);
  return { sheet: name, data: data as never };
}

function cellOf(value: Json): Cell {
  if (typeof value === "object" && value !== null) {
    throw badField("rows: a cell is text, a number, a boolean or null");
  }
  if (typeof value === "string" && value.length > MAX_TEXT) {
    throw beyond("cell", `a cell has more than ${MAX_TEXT} characters`);
  }
  return value;
}

/** A date stays on its day and hour: spreadsheets have no zone. */
function dateOf(value: Json): Cell {
  if (value === null || value === "") return null;
  const text = typeof value === "string" ? value.replace(/(?:Z|[+-]\d\d:\d\d)$/, "") : "";
  const at = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/.test(text)
    ? Date.parse(text.length === 10 ? text : `${text}Z`)
    : Number.NaN;
  if (Number.isNaN(at))
    throw badField("rows: a cell of a column of dates is no date such as 2026-01-31");
  const format = text.length === 10 ? "yyyy-mm-dd" : "yyyy-mm-dd hh:mm:ss";
  return { value: new Date(at), type: Date, format };
}
