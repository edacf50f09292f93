/** What to say of a configuration file that is no JSON. Whatever it holds may be a secret, so that only its shape is shown. */
import { clean } from "../render/text.ts";
import { JsonMistake, keyOffsets, placeOf } from "./json-places.ts";
import { CONFIG_KEYS } from "./keys.ts";

const LINES_AROUND = 1;
const MAX_COLUMNS = 100;

/** A sentence, and the lines around the mistake with everything but known keys made unreadable. */
export function describeMistake(
  path: string,
  bytes: Uint8Array,
): { readonly message: string; readonly frame: string } {
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
