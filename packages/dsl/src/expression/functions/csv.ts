/**
 * CSV as RFC 4180 has it.
 *   C1  what `csvFormat` writes `csvParse` reads again as text, cell by cell, but for the mark of a formula.
 *   C2  text that a spreadsheet would compute is written in quotes with `'` before it (OWASP, "CSV Injection"). Text that spells a
 *       number is no formula.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { isObject, setMember } from "../../data.ts";
import { type FlowType, LIST, listOf, OBJECT, STRING, unionOf } from "../../types/flow-type.ts";
import {
  badArgument,
  type Evaluation,
  handleText,
  produceElements,
  produceText,
  spend,
  wrongType,
} from "../budget.ts";
import { codePointCount, kindName, memberOf } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { NUMBER_TEXT } from "./numbers.ts";

/** Characters that begin a formula in some spreadsheet. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** Characters that end a cell or a row for some reader, whatever the separator is: a formula could begin after them. */
const SPLITS = /[",;\t\r\n\ufeff]/;
/** One character that parts cells. */
const SEPARATOR = /^[^"\r\n]$/;
const BYTE_ORDER_MARK = "\ufeff";

export const CSV: readonly FunctionRow[] = [
  define<[string, JsonObject | undefined]>({
    signature: "csvParse(string, options?) list",
    params: [STRING, OBJECT],
    returns: ([, options]) => listOf(rowType(options)),
    check: checkOptions,
    call(ev, site, text, options) {
      const { header, separator } = readOptions(site, options);
      produceText(ev, site, text.length);
      const reader = new CsvReader(ev, site, text, separator);
      return header ? named(ev, reader) : [...reader.rows()].map(({ cells }) => cells);
    },
  }),
  define<[readonly Json[], JsonObject | undefined]>({
    signature: "csvFormat(list, options?) string",
    params: [listOf(unionOf(LIST, OBJECT)), OBJECT],
    check: checkOptions,
    call(ev, site, list, options) {
      const { header, separator } = readOptions(site, options);
      const names = columnsOf(ev, site, list);
      // Row by row, because all cells at once may be far more than an evaluation may produce.
      const lines = list.map((row) => {
        spend(ev, site, names.length);
        const cells = Array.isArray(row)
          ? row
          : names.map((name) => memberOf(row as JsonObject, name));
        return line(ev, site, cells, separator);
      });
      if (header && names.length > 0) lines.unshift(line(ev, site, names, separator));
      return lines.join("");
    },
  }),
];

interface CsvOptions {
  /** The first row names the columns. */
  readonly header: boolean;
  readonly separator: string;
}

function readOptions(site: CallSite, options: JsonObject = {}): CsvOptions {
  const problem = checkOptions(options, 1);
  if (problem !== undefined) badArgument(site, `${site.name}: ${problem}`);
  return { header: true, separator: ",", ...options };
}

function checkOptions(options: Json, index: number): string | undefined {
  if (index !== 1 || !isObject(options)) return undefined;
  for (const [name, value] of Object.entries(options)) {
    if (name === "header") {
      if (typeof value !== "boolean") return "`header` is true or false";
    } else if (name !== "separator") return "its options are `header` and `separator`";
    else if (typeof value !== "string" || !SEPARATOR.test(value)) {
      return "`separator` is one character, and neither a quote nor a line end";
    }
  }
  return undefined;
}

function rowType(options: FlowType | undefined): FlowType {
  if (options === undefined) return OBJECT;
  const header = options.kind === "object" ? options.props.get("header") : undefined;
  if (header?.kind === "bool" && header.value !== undefined) {
    return header.value ? OBJECT : listOf(STRING);
  }
  const isLeftOut = options.kind === "object" && !options.open && header === undefined;
  return isLeftOut ? OBJECT : unionOf(OBJECT, listOf(STRING));
}

/** The rows as objects by the names in the first one. */
function named(ev: Evaluation, reader: CsvReader): Json {
  const objects: Json[] = [];
  let names: readonly string[] | undefined;
  for (const { cells, at } of reader.rows()) {
    if (names === undefined) {
      if (new Set(cells).size < cells.length) reader.fail(at, "two columns of one name");
      names = cells;
      continue;
    }
    if (cells.length !== names.length) {
      reader.fail(at, `${cells.length} cells below ${names.length} names`);
    }
    produceElements(ev, reader.site, cells.length);
    const object: Record<string, Json> = {};
    for (let i = 0; i < cells.length; i += 1) {
      setMember(object, names[i] as string, cells[i] as string);
    }
    objects.push(object);
  }
  return objects;
}

interface CsvRow {
  readonly cells: string[];
  readonly at: number;
}

/** Reads CSV text row by row; an empty line is no row. */
class CsvReader {
  readonly site: CallSite;
  readonly #ev: Evaluation;
  readonly #text: string;
  readonly #separator: string;
  #at = 0;

  constructor(ev: Evaluation, site: CallSite, text: string, separator: string) {
    this.#ev = ev;
    this.site = site;
    this.#text = text;
    this.#separator = separator;
    if (text.startsWith(BYTE_ORDER_MARK)) this.#at = 1;
  }

  *rows(): Generator<CsvRow> {
    while (this.#at < this.#text.length) {
      const at = this.#at;
      const cells = [this.#cell()];
      while (this.#text[this.#at] === this.#separator) {
        this.#at += 1;
        cells.push(this.#cell());
      }
      const isEmpty = this.#at === at;
      this.#endLine();
      produceElements(this.#ev, this.site, cells.length + 1);
      if (!isEmpty) yield { cells, at };
    }
  }

  #cell(): string {
    const text = this.#text;
    const start = this.#at;
    if (text[start] === '"') return this.#quoted();
    let at = start;
    for (; at < text.length; at += 1) {
      const char = text[at];
      if (char === this.#separator || char === "\n" || char === "\r") break;
      if (char === '"') this.fail(at, "a quote in a cell that begins without one");
    }
    this.#at = at;
    return text.slice(start, at);
  }

  #quoted(): string {
    const text = this.#text;
    const start = this.#at;
    let end = text.indexOf('"', start + 1);
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
    if (end < 0) this.fail(start, "a quote that is not closed");
    this.#at = end + 1;
    return text.slice(start + 1, end).replaceAll('""', '"');
  }

  #endLine(): void {
    const text = this.#text;
    if (text[this.#at] === "\r" && text[this.#at + 1] === "\n") this.#at += 1;
    else if (this.#at < text.length && text[this.#at] !== "\n") {
      const isReturn = text[this.#at] === "\r";
      this.fail(this.#at, isReturn ? "half of a line end" : "text behind a closing quote");
    }
    this.#at += 1;
  }

  /** Ends the evaluation with a place in the text. */
  fail(at: number, what: string): never {
    const before = this.#text.slice(0, at).split("\n");
    const place = `line ${before.length}, column ${codePointCount(before.at(-1) ?? "") + 1}`;
    badArgument(this.site, `csvParse found ${what} at ${place}`);
  }
}

/** The names of all columns, in the order in which they come; none for rows that are lists. */
function columnsOf(ev: Evaluation, site: CallSite, rows: readonly Json[]): string[] {
  const names = new Set<string>();
  let lists = 0;
  for (const row of rows) {
    spend(ev, site, 1);
    if (Array.isArray(row)) lists += 1;
    else if (!isObject(row)) {
      wrongType(site, `csvFormat takes lists or objects, found ${kindName(row)} in it`);
    } else {
      for (const name of memberNames(row)) {
        handleText(ev, site, name.length + 64);
        names.add(name);
      }
    }
  }
  if (lists > 0 && lists < rows.length) {
    wrongType(site, "csvFormat takes rows of one type, found list and object");
  }
  return [...names];
}

function line(ev: Evaluation, site: CallSite, row: readonly Json[], separator: string): string {
  spend(ev, site, row.length);
  let paid = 0;
  const cells = row.map((value) => {
    // Before it is joined: text that is many times in a row is there once until then.
    if (typeof value === "string") {
      produceText(ev, site, value.length);
      paid += value.length;
    }
    return cellText(site, value ?? null, separator);
  });
  const text = cells.length === 1 && cells[0] === "" ? '""' : cells.join(separator);
  produceText(ev, site, Math.max(0, text.length - paid) + 2);
  return `${text}\r\n`;
}

function cellText(site: CallSite, value: Json, separator: string): string {
  if (value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") {
    wrongType(site, `csvFormat takes no ${kindName(value)} in a cell; \`json(…)\` makes text`);
  }
  const isFormula = FORMULA.test(value) && !NUMBER_TEXT.test(value);
  if (!isFormula && !value.includes(separator) && !SPLITS.test(value)) return value;
  return `"${isFormula ? "'" : ""}${value.replaceAll('"', '""')}"`;
}
