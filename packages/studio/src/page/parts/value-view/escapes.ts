/** Characters that are not seen, or that change the order of others, told apart from the text around them. */

// C0 without tab and line feed, delete, C1, separators of lines, byte order mark, bidirectional controls, lone surrogates.
const CHARACTERS = String.raw`\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;
const UNSEEN = new RegExp(`[${CHARACTERS}]|\\p{Cs}`, "gu");

/** A piece of a text: as it is written, or the escape of one character. */
export type TextPiece = string | { readonly escape: string };

/** The pieces of a text. */
export function piecesOf(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) pieces.push(text.slice(from, match.index));
    const code = match[0].charCodeAt(0).toString(16).padStart(4, "0");
    pieces.push({ escape: `\\u${code}` });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** A text with its escapes, for places that take no elements. */
export function escapedText(text: string): string {
  return piecesOf(text)
    .map((piece) => (typeof piece === "string" ? piece : piece.escape))
    .join("");
}
