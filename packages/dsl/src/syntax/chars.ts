// Loops over a text stop at its length: once a call of `charCodeAt` has read past an end, V8 compiles it as a slow one.

/**
 * Classes of the table. What goes on a name comes first, so that `class <= CHAR.digit` asks "part of a name?"; what may open
 * something that is skipped (a comment, a `;`) comes last, so that `class <= CHAR.other` asks "stands for itself?".
 */
export const CHAR = {
  letter: 0,
  digit: 1,
  other: 2,
  blank: 3,
  newline: 4,
  control: 5,
  mark: 6,
} as const;

/** Class of every ASCII code; codes from 128 on are `CHAR.other`. */
export const CLASSES: Uint8Array = classTable();

function classTable(): Uint8Array {
  const table = new Uint8Array(128).fill(CHAR.other);
  table.fill(CHAR.control, 0, 32);
  table.fill(CHAR.digit, 48, 58);
  table.fill(CHAR.letter, 65, 91);
  table.fill(CHAR.letter, 97, 123);
  table[95] = CHAR.letter; // _
  table[9] = table[32] = CHAR.blank;
  table[13] = CHAR.blank; // only before LF: the scanner turns a lone CR into LF first
  table[10] = CHAR.newline;
  table[35] = table[47] = table[59] = CHAR.mark; // # / ;
  return table;
}

/** Whether a code can start a name. */
export function isNameStart(code: number): boolean {
  return code < 128 && CLASSES[code] === CHAR.letter;
}

/** Whether a code can go on a name. `NaN`, past the end, cannot. */
export function isNamePart(code: number): boolean {
  return code < 128 && (CLASSES[code] as number) <= CHAR.digit;
}

/** Whether a code is `0` to `9`. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether a code is a space, a tab or part of a line end. */
export function isBlankOrLineEnd(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

const STRANGE_BLANK = /[\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** Blanks of Unicode that look like a space and are not one, with U+FEFF and the line separators. */
export function isStrangeBlank(code: number): boolean {
  return STRANGE_BLANK.test(String.fromCharCode(code));
}

/** `U+00A0` for 160. */
export function codeName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** `\u00a0` for 160. */
export function unicodeEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Whether a text may stand as a name without quotes: `[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*`. */
export function isIdent(text: string): boolean {
  if (!isNameStart(text.charCodeAt(0))) return false;
  for (let at = 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isNamePart(code)) continue;
    if (code !== 45 || !isNamePart(text.charCodeAt(at + 1))) return false;
  }
  return true;
}

/** End of the ident that starts at `at`; a `-` belongs to it only before another name character. */
export function identEnd(src: string, at: number): number {
  let end = at + 1;
  while (end < src.length) {
    const code = src.charCodeAt(end);
    if (isNamePart(code)) end += 1;
    else if (code === 45 && end + 1 < src.length && isNamePart(src.charCodeAt(end + 1))) end += 2;
    else break;
  }
  return end;
}
