/** Markdown in which nothing of a flow or catalog is markup or leads anywhere. */

/** Characters with a meaning in Markdown, in any flavour. */
const MARKUP = /[\\`*_{}[\]()<>#+\-.!|~&$:@/=^"']/g;

/** Text that viewers turn into links although it is escaped; an invisible word joiner prevents it. */
const ADDRESS = /:(?=\/\/)|@|(?<=\bwww)\./gi;

/** Text as itself, on one line. */
export function plain(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
  return line.replace(MARKUP, "\\$&").replace(ADDRESS, "$&\u2060");
}

/** Text in a code span, on one line. */
export function code(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
  if (line === "") return "";
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return fence + pad + line + pad + fence;
}

/** Paragraphs without the empty ones. */
export function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
