/** Where a token ends. */
import { isDigit, isNamePart, isNameStart } from "./chars.ts";

/** End of the ident that starts at `at`; a `-` belongs to it only before another name character. */
export function identEnd(src: string, at: number): number {
  let end = at + 1;
  for (;;) {
    const code = src.charCodeAt(end);
    if (isNamePart(code)) end += 1;
    else if (code === 45 && isNamePart(src.charCodeAt(end + 1))) end += 2;
    else return end;
  }
}

/** End of the token at `at`. A string ends with its line at the latest, and at a line end or the end there is none. */
export function tokenEnd(src: string, at: number): number {
  const code = src.charCodeAt(at);
  if (Number.isNaN(code) || code === 10 || code === 13) return at;
  if (code === 35) return lineEnd(src, at);
  if (isNameStart(code)) return identEnd(src, at);
  if (isDigit(code)) {
    let end = at + 1;
    while (isNamePart(src.charCodeAt(end)) || src.charCodeAt(end) === 46) end += 1;
    return end;
  }
  if (code === 34) return stringEnd(src, at);
  if (TWO_CHARACTERS.has(src.slice(at, at + 2))) return at + 2;
  return at + ((src.codePointAt(at) as number) > 0xffff ? 2 : 1);
}

const TWO_CHARACTERS = new Set(["->", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "${"]);

function stringEnd(src: string, at: number): number {
  for (let end = at + 1; ; end += 1) {
    const code = src.charCodeAt(end);
    if (code === 34) return end + 1;
    if (Number.isNaN(code) || code === 10 || code === 13) return end;
    if (code === 92 && src.charCodeAt(end + 1) >= 32) end += 1;
  }
}

function lineEnd(src: string, at: number): number {
  const found = src.indexOf("\n", at);
  return found === -1 ? src.length : found;
}
