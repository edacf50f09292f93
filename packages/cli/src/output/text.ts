/** Text of others on our terminal: no control character gets through. */

// C0, DEL, C1, line separators, what is invisible, and the marks that reverse the direction of what follows.
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: naming them is the purpose
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/** Whether each character takes one cell: then nothing has to be loaded that knows the width of others. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** One line of harmless text: each control character becomes `�`. */
export function clean(text: string): string {
  return text.replace(UNSAFE, "�");
}

/** A text of several lines as one: ends of lines become blanks. */
export function cleanLine(text: string): string {
  return clean(text.trimEnd().replace(/\s*\r?\n\s*/g, " "));
}

/** Harmless lines of a text of several; tabs are two columns wide. */
export function cleanLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => clean(line.replaceAll("\t", "  ")));
}

/** A moment of the API to the second, `2026-01-02T03:04:05Z`; a dash where there is none. */
export function formatTime(iso: string | null | undefined): string {
  return iso?.replace(/\.\d+Z$/, "Z") ?? "-";
}
