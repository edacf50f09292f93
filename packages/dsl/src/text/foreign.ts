/** Comments and line ends of other languages, as this one writes them. */

/** The lines of what stands between the two ends of a star comment, without the stars in front of them. */
export function starCommentLines(inner: string): string[] {
  const texts = inner.split("\n").map((line) =>
    line
      .replaceAll("\0", "")
      .replace(/^\s*\*?\s*/, " ")
      .trimEnd(),
  );
  if (texts.length > 1 && texts[0] === "") texts.shift();
  if (texts.length > 1 && texts.at(-1) === "") texts.pop();
  return texts;
}

/**
 * Those lines as `#` comments, between what stands before and behind them on their line; undefined where something stands
 * on both sides, because a `#` comment ends its line.
 */
export function hashComments(
  texts: readonly string[],
  before: string,
  behind: string,
): string | undefined {
  const isFirst = before.trim() === "";
  const isLast = behind.trim() === "";
  if (!isFirst && !isLast) return undefined;
  const comments = texts.map((text) => `#${text}`).join(`\n${isFirst ? before : ""}`);
  return isLast ? comments : `${comments}\n${before}`;
}

/** A text in which every CR that no LF follows is an LF; offsets stay. */
export function loneCrToLf(source: string): string {
  // Ten times as fast as a replacement, and linear whatever the text.
  const lines = source.split("\r\n");
  return lines.map((line) => line.split("\r").join("\n")).join("\r\n");
}
