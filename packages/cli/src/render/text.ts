/** Text of others on our terminal: no control character gets through, and widths are those that the eye sees. */
import stringWidth from "string-width";

// C0, DEL, C1, line separators, and the marks that reverse the direction of what follows.
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming them is the purpose
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** One line of harmless text: each control character becomes `�`. */
export function clean(text: string): string {
  return text.replace(UNSAFE, "�");
}

/** Cells that `text` takes on a terminal. */
export function width(text: string): number {
  return stringWidth(text);
}

/** `text` cut to at most `cells`, with an ellipsis when something is missing. */
export function clip(text: string, cells: number): string {
  if (cells <= 0) return "";
  if (width(text) <= cells) return text;
  let result = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = used + width(segment);
    if (next > cells - 1) break;
    result += segment;
    used = next;
  }
  return `${result}…`;
}

/** `text` filled with blanks to `cells`. */
export function pad(text: string, cells: number): string {
  return text + " ".repeat(Math.max(0, cells - width(text)));
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
