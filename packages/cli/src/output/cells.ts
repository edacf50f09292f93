/** Widths that the eye sees. Loading what knows them takes longer than most commands, so only a display that needs it does. */

import stringWidth from "string-width";

/** Text and the colour it gets once it is cut to size; escape sequences have no width and must not be cut. */
export interface Span {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/** Cells that `text` takes on a terminal. */
export function width(text: string): number {
  return stringWidth(text);
}

/** `text` cut to at most `cells`, with an ellipsis when something is missing. */
export function clip(text: string, cells: number): string {
  if (cells <= 0) return "";
  // No more than two cells for a unit: most texts are measured only when they may be too long.
  if (text.length * 2 <= cells || width(text) <= cells) return text;
  let result = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const next = used + width(segment);
    if (next > cells - 1) break;
    result += segment;
    used = next;
  }
  return `${result}…`;
}

/** A line of spans, cut to at most `cells`, then coloured. */
export function clipLine(spans: readonly Span[], cells: number): string {
  let line = "";
  let left = cells;
  for (const [i, { text, paint }] of spans.entries()) {
    const rest = spans.slice(i + 1).some((span) => span.text !== "");
    const shown = rest && width(text) === left ? clip(`${text} `, left) : clip(text, left);
    line += paint === undefined || shown === "" ? shown : paint(shown);
    if (shown !== text) break;
    left -= width(text);
  }
  return line;
}

/** `text` filled with blanks to `cells`. */
export function pad(text: string, cells: number): string {
  return text + " ".repeat(Math.max(0, cells - width(text)));
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
