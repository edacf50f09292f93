/** Searching in text for text, in linear time. */

/** Up to here the platform's search is the faster one whatever the texts. */
export const LONG_PART = 32;

/** The parts between separators, at most `limit`: one more than can be paid for is enough to fail. */
export function partsBetween(text: string, separator: string, limit: number): string[] {
  if (separator.length <= LONG_PART) return text.split(separator, limit);
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; parts.length < limit; from = at + separator.length) {
    at = findText(text, separator, from);
    if (at < 0) break;
    parts.push(text.slice(from, at));
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * Where `part` first stands in `text` from `from` on, or -1. The platform's search may compare all of the part at each place
 * of the text: minutes for texts of a megabyte. Long parts are found in linear time (Knuth, Morris, Pratt 1977).
 */
export function findText(text: string, part: string, from: number): number {
  const { length } = part;
  if (length <= LONG_PART) return text.indexOf(part, from);
  /** For each prefix of the part: how much of its end is again a beginning of the part. */
  const border = new Int32Array(length + 1);
  for (let i = 1, matched = 0; i < length; i += 1) {
    const unit = part.charCodeAt(i);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = border[matched] as number;
    if (unit === part.charCodeAt(matched)) matched += 1;
    border[i + 1] = matched;
  }
  for (let at = from, matched = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = border[matched] as number;
    if (unit === part.charCodeAt(matched)) matched += 1;
    if (matched === length) return at - length + 1;
  }
  return -1;
}
