/** `csv.write`: rows as CSV (RFC 4180), in which no text is a formula unless the author says so. */
import {
  type ActionDefinition,
  defineAction,
  type Json,
  jsonSchema,
  type NodeContext,
  NodeError,
} from "@millrace/contracts";
import { parse } from "csv-parse/sync";
import {
  badField,
  columnsField,
  headerField,
  modeField,
  pathField,
  type Row,
  rowsField,
  shown,
  tableOf,
} from "./table.ts";

interface CsvWriteFields {
  readonly path: string;
  readonly rows: readonly Row[];
  readonly columns?: readonly string[];
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly formulas?: "escape" | "keep";
  readonly bom?: boolean;
  readonly mode?: "create" | "replace" | "append";
}

interface CsvWriteRecord {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  readonly escaped: number;
}

/** What begins a formula in some spreadsheet: OWASP, "CSV Injection". `csvFormat` of the language has the same rule. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** What ends a cell or a row for some spreadsheet, whatever the delimiter is. */
const SPLITS = /[",;\t\r\n]/;
/** Text that spells a number computes nothing. */
const NUMBER_TEXT = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Bytes at the beginning of a file, in which the names of its columns are. */
const MAX_HEAD = 1_048_576;
const LINE_FEED = 10;
const BYTE_ORDER_MARK = "\ufeff";

export const csvWrite: ActionDefinition = defineAction<CsvWriteFields, CsvWriteRecord>({
  name: "write",
  title: "Write CSV",
  summary: "Writes rows to a CSV file; text that a spreadsheet would compute is marked with '.",
  fields: jsonSchema<CsvWriteFields>({
    type: "object",
    required: ["path", "rows"],
    additionalProperties: false,
    properties: {
      path: pathField,
      rows: rowsField,
      columns: {
        ...columnsField,
        description: "Names and order of the columns; default all that rows have.",
      },
      header: { ...headerField, description: "Whether a first row names the columns." },
      delimiter: {
        type: "string",
        pattern: '^[^"\\r\\n]$',
        default: ",",
        description: "What parts cells.",
      },
      formulas: {
        enum: ["escape", "keep"],
        default: "escape",
        description:
          "keep writes text that begins with = + - @ as it is, so that spreadsheets compute it.",
      },
      bom: {
        type: "boolean",
        default: false,
        description: "Whether a mark tells spreadsheets that it is UTF-8.",
      },
      mode: { ...modeField, enum: ["create", "replace", "append"] },
    },
  }),
  output: jsonSchema<CsvWriteRecord>({
    type: "object",
    required: ["path", "bytes", "rows", "escaped"],
    properties: {
      path: { type: "string" },
      bytes: { type: "integer", description: "Bytes that were written." },
      rows: { type: "integer", description: "Rows without the header." },
      escaped: { type: "integer", description: "Cells that were marked with '." },
    },
  }),
  effect: "write",
  async run(fields, ctx) {
    const { path, mode = "create", header = true, bom = false } = fields;
    const { names, lists: given } = tableOf(fields.rows, fields.columns);
    const { head, isEnded } = mode === "append" ? await above(ctx, path) : NO_FILE;
    const isBelow = head !== "";
    const isNamed = header && names.length > 0;
    // Rows that are added to a file come below the names that it has.
    const lists = isNamed && isBelow ? placed(given, names, namesOf(head, fields)) : given;
    const line = createLines(fields);
    const start = isEnded ? "" : "\r\n";
    const first = isNamed && !isBelow ? line(names) : start;
    const text = first + lists.map(line).join("");
    const data = new TextEncoder().encode(bom && !isBelow ? BYTE_ORDER_MARK + text : text);
    const file = await ctx.files.write(path, data, { mode });
    return { path: file.path, bytes: file.bytes, rows: lists.length, escaped: line.escaped };
  },
});

/** The names in the first line of a text. Throws `field_invalid` where it is none. */
function namesOf(head: string, { delimiter = "," }: CsvWriteFields): readonly string[] {
  try {
    const options = {
      delimiter,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: 1,
    };
    const [names = []] = parse(head, options);
    return names;
  } catch {
    throw badField("path: the first line of the file is no names of columns; add lists of cells");
  }
}

/** Rows in the order in which a file has their columns. */
function placed(
  lists: readonly (readonly Json[])[],
  names: readonly string[],
  inFile: readonly string[],
): readonly (readonly Json[])[] {
  const none = names.find((name) => !inFile.includes(name));
  if (none !== undefined) {
    const known = inFile.slice(0, 20).map(shown).join(", ");
    throw badField(`rows: the file has no column ${shown(none)}; it has ${known}`);
  }
  const places = inFile.map((name) => names.indexOf(name));
  return lists.map((cells) => places.map((place) => cells[place] ?? null));
}

interface Lines {
  (cells: readonly Json[]): string;
  escaped: number;
}

function createLines({ delimiter = ",", formulas = "escape" }: CsvWriteFields): Lines {
  const cellText = (value: Json): string => {
    if (value === null) return "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (typeof value !== "string")
      throw badField("rows: a cell is text, a number, a boolean or null");
    const isFormula = formulas === "escape" && FORMULA.test(value) && !NUMBER_TEXT.test(value);
    if (isFormula) lines.escaped += 1;
    const isQuoted =
      isFormula ||
      value.includes(delimiter) ||
      SPLITS.test(value) ||
      value.startsWith(BYTE_ORDER_MARK);
    return isQuoted ? `"${isFormula ? "'" : ""}${value.replaceAll('"', '""')}"` : value;
  };
  const lines: Lines = Object.assign(
    (cells: readonly Json[]) => {
      const texts = cells.map(cellText);
      // A lone empty cell would be an empty line, which is no row.
      return `${texts.length === 1 && texts[0] === "" ? '""' : texts.join(delimiter)}\r\n`;
    },
    { escaped: 0 },
  );
  return lines;
}

/** What a file has that rows are added to. */
interface Above {
  /** The text that it begins with; empty for one that is not there. */
  readonly head: string;
  /** Whether its last line has an end. */
  readonly isEnded: boolean;
}

const NO_FILE: Above = { head: "", isEnded: true };

async function above({ files }: NodeContext, path: string): Promise<Above> {
  try {
    const { data } = await files.read(path, { range: { offset: 0, length: MAX_HEAD } });
    const head = new TextDecoder().decode(data);
    if (data.length < MAX_HEAD) return { head, isEnded: head.endsWith("\n") };
    const at = async (offset: number) =>
      (await files.read(path, { range: { offset, length: 1 } })).data[0];
    let end = data.length;
    for (let step = 2 ** 42; step >= 1; step /= 2) {
      if ((await at(end + step - 1)) !== undefined) end += step;
    }
    return { head, isEnded: (await at(end - 1)) === LINE_FEED };
  } catch (error) {
    if (NodeError.isInstance(error) && error.code === "file_not_found") {
      return NO_FILE;
    }
    throw error;
  }
}
