/**
 * Colours of a terminal in a line of a log. Sequences that set them become classes; all other sequences are dropped, so that nothing
 * moves a cursor, sets a title or writes a link.
 */
import anser from "anser";

/** A piece of a line with the classes of its look. */
export interface AnsiPiece {
  readonly text: string;
  readonly classes: string;
}

// Operating system commands and other strings end at BEL or ESC \; then control sequences that set no colour; then short ones.
const DROPPED = new RegExp(
  [
    String.raw`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)`,
    String.raw`\x1b\[(?![\d;]*m)[0-?]*[ -/]*(?:[@-~]|$)`,
    String.raw`\x1b(?!\[[\d;]*m)[ -/]*[0-~]?`,
  ].join("|"),
  "g",
);

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/** Looks that are shown; a text that a sequence hides stays visible. */
const LOOKS = ["bold", "italic", "underline", "strikethrough"] as const;

/** The pieces of a line. */
export function ansiPieces(line: string): readonly AnsiPiece[] {
  const text = line.replace(DROPPED, "");
  if (!text.includes("\x1b")) return text === "" ? [] : [{ text, classes: "" }];
  const entries = anser.ansiToJson(text, { use_classes: true, remove_empty: true });
  return entries.map(({ content, fg, bg, decorations }) => ({
    text: content,
    classes: [
      ...colour(fg, "ansi-"),
      ...colour(bg, "ansi-on-"),
      ...LOOKS.filter((look) => decorations.includes(look)).map((look) => `ansi-${look}`),
    ].join(" "),
  }));
}

/** One of the eight hues; other colours could not be read on every ground. */
function colour(name: string | null, prefix: string): readonly string[] {
  const hue = /^ansi-(?:bright-)?(\w+)$/.exec(name ?? "")?.[1] ?? "";
  return COLOURS.includes(hue) ? [`${prefix}${hue}`] : [];
}
