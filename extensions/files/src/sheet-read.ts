/** `sheet.read`: rows of one sheet of a spreadsheet file (xlsx). */
import {
  type ActionDefinition,
  defineAction,
  type Json,
  type JsonObject,
  jsonSchema,
} from "@millrace/contracts";
import readWorkbook from "read-excel-file/universal";
import { partsOf } from "./file-parts.ts";
import {
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
import { checkedWorkbook, lettersOf } from "./workbook.ts";

interface SheetReadFields extends Page {
  readonly path: string;
  readonly sheet?: string;
  readonly header?: boolean;
  readonly columns?: readonly string[];
  readonly maxBytes?: number;
  readonly maxUnpackedBytes?: number;
  readonly maxCells?: number;
}

interface SheetReadRecord {
  readonly sheet: string;
  readonly sheets: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (JsonObject | readonly Json[])[];
  readonly more: boolean;
  readonly errorCount: number;
}

const MAX_BYTES = 16_777_216;
const MAX_UNPACKED = 33_554_432; // twice that is text in the heap of an extension, which has 256 MiB
const MAX_CELLS = 500_000;

export const sheetRead: ActionDefinition = defineAction<SheetReadFields, SheetReadRecord>({
  name: "read",
  title: "Read spreadsheet",
  summary:
    "Reads rows of a sheet of an xlsx file: texts, numbers, booleans, dates, values of formulas.",
  fields: jsonSchema<SheetReadFields>({
    type: "object",
    required: ["path"],
    additionalProperties: false,
    properties: {
      path: pathField,
      sheet: { type: "string", description: "Name of the sheet; default the first." },
      header: headerField,
      columns: columnsField,
      ...PAGE_FIELDS,
      maxBytes: { type: "integer", minimum: 1, default: MAX_BYTES, description: "Largest file." },
      maxUnpackedBytes: {
        type: "integer",
        minimum: 1,
        maximum: 4 * MAX_UNPACKED,
        default: MAX_UNPACKED,
        description: "Most bytes that the file unpacks to.",
      },
      maxCells: {
        type: "integer",
        minimum: 1,
        maximum: 4 * MAX_CELLS,
        default: MAX_CELLS,
        description: "Most cells of all sheets, with the empty ones between.",
      },
    },
  }),
  output: jsonSchema<SheetReadRecord>({
    type: "object",
    required: ["sheet", "sheets", "columns", "rows", "more", "errorCount"],
    properties: {
      sheet: { type: "string" },
      sheets: { type: "array", items: { type: "string" }, description: "Names of all sheets." },
      columns: { type: "array", items: { type: "string" } },
      rows: {
        type: "array",
        items: { anyOf: [{ type: "object", additionalProperties: true }, { type: "array" }] },
        "x-millrace": { untrusted: true },
      },
      more: { type: "boolean", description: "Whether rows follow the page." },
      errorCount: {
        type: "integer",
        description: "Cells of the file that show an error; their value is null.",
      },
    },
  }),
  effect: "read",
  defaults: { policy: { timeoutMs: 600_000 } },
  async run(fields, ctx) {
    const {
      path,
      maxBytes = MAX_BYTES,
      maxUnpackedBytes = MAX_UNPACKED,
      maxCells = MAX_CELLS,
    } = fields;
    checkNames(fields);
    const parts: Uint8Array[] = [];
    for await (const part of partsOf(ctx, path, maxBytes)) parts.push(part);
    const data = Buffer.concat(parts);
    const { archive, errorCount } = checkedWorkbook(data, { maxUnpackedBytes, maxCells });
    const sheets = await sheetsOf(archive);
    const names = sheets.map(({ sheet }) => sheet);
    const found =
      fields.sheet === undefined ? sheets[0] : sheets.find(({ sheet }) => sheet === fields.sheet);
    if (found === undefined) {
      throw unreadable(
        "sheet_unknown",
        `there is no such sheet; there are ${names.slice(0, 20).join(", ")}`,
      );
    }
    return { sheet: found.sheet, sheets: names, ...pageOf(found.data, fields), errorCount };
  },
});

interface Sheet {
  readonly sheet: string;
  readonly data: readonly (readonly Json[])[];
}

async function sheetsOf(archive: ArrayBuffer): Promise<readonly Sheet[]> {
  try {
    const sheets: readonly { sheet: string; data: readonly (readonly unknown[])[] }[] =
      await readWorkbook(archive, { trim: false });
    return sheets.map(({ sheet, data }) => ({ sheet, data: data.map((row) => row.map(jsonOf)) }));
  } catch {
    // The message of the library quotes what is in the file.
    throw unreadable("sheet_invalid", "the file is no spreadsheet of the kind xlsx, or is damaged");
  }
}

function pageOf(
  data: Sheet["data"],
  fields: SheetReadFields,
): Pick<SheetReadRecord, "columns" | "rows" | "more"> {
  const page = new PageOfRows<JsonObject | readonly Json[]>(fields);
  if (fields.header === false) {
    data.every((row) => page.take(() => row));
    return { columns: [], rows: page.rows, more: page.more };
  }
  const [head = [], ...rows] = data;
  const names = head.map((cell, at) =>
    cell === null || cell === "" ? lettersOf(at + 1) : String(cell),
  );
  const columns = fields.columns ?? names;
  const places = placesOf(names, columns);
  rows.every((row) =>
    page.take(() =>
      named(
        columns,
        places.map((place) => row[place] ?? null),
      ),
    ),
  );
  return { columns, rows: page.rows, more: page.more };
}

/** A date as ISO 8601 without a zone, which spreadsheets have none of; without a time where it is midnight. */
function jsonOf(value: unknown): Json {
  if (!(value instanceof Date)) return (value ?? null) as Json;
  if (Number.isNaN(value.getTime())) return null;
  const [day = "", time = ""] = value
    .toISOString()
    .replace(/(?:\.000)?Z$/, "")
    .split("T");
  return time === "00:00:00" ? day : `${day}T${time}`;
}
