/** Names in a picture: clipped, and with an estimated width, since the font of the reader is unknown. */

const MAX_LENGTH = 48; // characters of a name; the whole of it is in the title of its box
const CHAR_W = 7.6; // of most characters, in bold letters of 13 units
/** Characters that take two places. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;
const BROAD = /[mwMW@%&]/;
const CAPITAL = /\p{Lu}/u;

/** The name, clipped to 48 characters with an ellipsis. */
export function shownName(name: string): string {
  const points = [...name];
  return points.length <= MAX_LENGTH ? name : `${points.slice(0, MAX_LENGTH - 1).join("")}…`;
}

/** Estimated width of the shown name in units of the picture; rather too wide than too narrow. */
export function nameWidth(name: string): number {
  let cells = 0;
  for (const char of shownName(name)) {
    cells += WIDE.test(char) ? 2 : BROAD.test(char) ? 1.9 : CAPITAL.test(char) ? 1.3 : 1;
  }
  return cells * CHAR_W;
}
