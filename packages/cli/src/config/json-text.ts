/** Places in a JSON text, and the report of a configuration file that is no JSON: its values may be secrets and are hidden. */
import { clean } from "../output/text.ts";
import { CONFIG_KEYS } from "./keys.ts";

/** 1-based, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A text that is no JSON. `offset` is the first character that cannot stand there. */
class JsonMistake extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Nesting that no file of people has. */
const MAX_DEPTH = 200;
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them in text
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\r\n]*/y;

/** Offset of each member's key, by its path, parts joined with dots. Of equal keys the last counts. Throws `JsonMistake`. */
function keyOffsets(text: string): Map<string, number> {
  const offsets = new Map<string, number>();
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const expected = (what: string): JsonMistake =>
    new JsonMistake(
      at,
      at >= text.length ? `the text ends where ${what} is needed` : `${what} is needed here`,
    );
  const sign = (char: string): boolean => {
    take(SPACE);
    if (text[at] !== char) return false;
    at += 1;
    return true;
  };

  function value(path: string, depth: number): void {
    take(SPACE);
    if (depth > MAX_DEPTH) throw new JsonMistake(at, "this is nested too deeply");
    if (sign("{")) members(path, depth);
    else if (sign("[")) items(path, depth);
    else if (take(STRING) === undefined && take(WORD) === undefined) throw expected("a value");
  }

  function members(path: string, depth: number): void {
    if (sign("}")) return;
    do {
      take(SPACE);
      const start = at;
      const name = take(STRING);
      if (name === undefined) throw expected("a key in double quotes");
      const inner = `${path}${path === "" ? "" : "."}${JSON.parse(name) as string}`;
      offsets.set(inner, start);
      if (!sign(":")) throw expected('":"');
      value(inner, depth + 1);
    } while (sign(","));
    if (!sign("}")) throw expected('"," or "}"');
  }

  function items(path: string, depth: number): void {
    if (sign("]")) return;
    do value(path, depth + 1);
    while (sign(","));
    if (!sign("]")) throw expected('"," or "]"');
  }

  value("", 0);
  take(SPACE);
  if (at < text.length) throw expected("the end of the text");
  return offsets;
}

function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}

/** A file, with the line of a key where it has one. */
export function lineOf(
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array },
  key: string,
): string {
  const text = new TextDecoder().decode(bytes);
  const offset = keyOffsets(text).get(key);
  return offset === undefined ? path : `${path}:${placeOf(text, offset).line}`;
}

const LINES_AROUND = 1;
const MAX_COLUMNS = 100;

/** A sentence, and the lines around the mistake with everything but known keys made unreadable. */
export function describeMistake(
  path: string,
  bytes: Uint8Array,
): { readonly message: string; readonly frame: string; readonly place?: Place } {
  const text = decode(bytes);
  if (text === undefined) return { message: `${path} is not JSON: it is no UTF-8 text`, frame: "" };
  const mistake = findMistake(text);
  const { line, column } = placeOf(text, mistake.offset);
  const lines = hidden(text).split("\n");
  const first = Math.max(1, line - LINES_AROUND);
  const last = Math.min(lines.length, line + LINES_AROUND);
  const gutter = String(last).length;
  const from = column > MAX_COLUMNS ? column - MAX_COLUMNS / 2 : 0;
  let frame = `  ${path}:${line}:${column}\n`;
  for (let number = first; number <= last; number++) {
    const shown = clean(
      (lines[number - 1] ?? "")
        .replace(/\r$/, "")
        .replaceAll("\t", " ")
        .slice(from, from + MAX_COLUMNS),
    );
    frame += `  ${String(number).padStart(gutter)} | ${shown}\n`;
    if (number === line)
      frame += `  ${" ".repeat(gutter)} | ${" ".repeat(column - 1 - from)}^ ${mistake.message}\n`;
  }
  return {
    message: `${path} is not JSON: line ${line}, column ${column}: ${mistake.message}`,
    frame,
    place: { line, column },
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function findMistake(text: string): JsonMistake {
  try {
    keyOffsets(text);
  } catch (error) {
    if (error instanceof JsonMistake) return error;
    throw error;
  }
  return new JsonMistake(0, "this is no JSON");
}

/** Every letter and digit as a dot, but for keys that everybody knows. */
function hidden(text: string): string {
  const known = new Set(CONFIG_KEYS.flatMap(({ key }) => key.split(".")));
  return text.replace(
    /("?)([\p{L}\p{N}$]+)(?=("?\s*:)?)/gu,
    (_all, quote: string, word: string, colon: string | undefined) =>
      `${quote}${colon !== undefined && known.has(word) ? word : "•".repeat(word.length)}`,
  );
}
