/** What encodeURIComponent leaves and the rule encodes, by character code: `! ' ( ) *`. */
const LEFT: Readonly<Record<number, string>> = {
  33: "%21",
  39: "%27",
  40: "%28",
  41: "%29",
  42: "%2A",
};
const LAST_LEFT = 42;
const PERCENT = 37;

/**
 * `s` as UTF-8 in which every byte but `A–Z a–z 0–9 - _ . ~` is `%` and two uppercase hexadecimal digits; a space is
 * `%20`. Half a surrogate pair becomes U+FFFD.
 * @see specification, "Build authorize URL"
 */
export function percentEncode(s: string): string {
  const encoded = encodeWellFormed(s);
  // By hand: `replace` with a function takes several times as long.
  let result = "";
  let from = 0;
  for (let at = 0; at < encoded.length; at++) {
    const code = encoded.charCodeAt(at);
    if (code > LAST_LEFT || code === PERCENT) continue;
    result += encoded.slice(from, at) + LEFT[code];
    from = at + 1;
  }
  return from === 0 ? encoded : result + encoded.slice(from);
}

function encodeWellFormed(s: string): string {
  try {
    return encodeURIComponent(s);
  } catch {
    return encodeURIComponent(s.replace(/\p{Surrogate}/gu, "\uFFFD"));
  }
}
