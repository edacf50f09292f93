/** Text of an author in a message: short, visible, and never a secret. */
import { maskSecrets, SECRET } from "../secret-pattern.ts";
import { unicodeEscape } from "../syntax/chars.ts";

/** Text of the file for a message: at most 60 characters, control characters escaped, and never what looks like a secret. */
export function shown(text: string): string {
  if (text.length > 15 && SECRET.test(text.slice(0, 1000))) return "what looks like a secret";
  const points = Array.from(text.slice(0, 120));
  const cut = text.length > 120 || points.length > 60 ? `${points.slice(0, 59).join("")}…` : text;
  return cut.replace(/[\p{Cc}\p{Cs}\u2028\u2029\ufeff\u202a-\u202e\u2066-\u2069]/gu, (char) =>
    unicodeEscape(char.charCodeAt(0)),
  );
}

/** Text quoted from a source is cut to this many characters. */
const MAX_QUOTED = 60;

/** Source text in a message: on one line, cut, control characters escaped, stars for what looks like a secret. */
export function quoted(text: string): string {
  const masked = maskSecrets(text.slice(0, 1000));
  const shown = text.length > MAX_QUOTED ? `${masked.slice(0, MAX_QUOTED)}…` : masked;
  return JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"');
}
