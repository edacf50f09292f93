/**
 * `s` as UTF-8 in which every byte but `A–Z a–z 0–9 - _ . ~` is `%` and two uppercase hexadecimal digits; a space is
 * `%20`. Half a surrogate pair becomes U+FFFD.
 * @see specification, "Build authorize URL"
 */
export function percentEncode(s: string): string {
  // encodeURIComponent leaves five characters that the rule encodes.
  return encodeWellFormed(s).replace(/[!'()*]/g, hexOfAscii);
}

function encodeWellFormed(s: string): string {
  try {
    return encodeURIComponent(s);
  } catch {
    return encodeURIComponent(s.replace(/\p{Surrogate}/gu, "\uFFFD"));
  }
}

function hexOfAscii(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
