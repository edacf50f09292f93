/** Names that a reader cannot tell apart. */

/** Cyrillic and Greek letters that look like Latin ones in most fonts (Unicode TR39, the letters of words). */
const ALIKE: ReadonlyMap<string, string> = new Map(
  [
    ["асԁеһіјӏорԛѕхуѵԝ", "acdehijlopqsxyvw"],
    ["АВСЕНІЈКМОРЅТХУ", "ABCEHIJKMOPSTXY"],
    ["αικνορυχ", "aikvopux"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"],
  ].flatMap(([from = "", to = ""]) =>
    Array.from(from, (letter, at): [string, string] => [letter, to[at] ?? letter]),
  ),
);

/** A text that is the same for names that look the same: compatibility forms and similar letters are folded. */
export function skeleton(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name;
  return Array.from(name.normalize("NFKC"), (letter) => ALIKE.get(letter) ?? letter)
    .join("")
    .replace(/\p{Cf}/gu, "");
}
