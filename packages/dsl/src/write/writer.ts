/** Lines of canonical text: indentation, empty lines and comments. */
import type { Comment } from "../syntax/notes.ts";

/** A line end and the indent behind it, for the levels that are common. */
const LINE_STARTS: readonly string[] = Array.from(
  { length: 12 },
  (_, level) => `\n${"  ".repeat(level)}`,
);

export class Writer {
  // Joined once: a string that grows by small steps becomes a tree that costs more than its text.
  private readonly parts: string[] = [];

  write(text: string): void {
    this.parts.push(text);
  }

  /** Lines that were printed elsewhere, with their indent. */
  lines(text: string): void {
    if (this.parts.length > 0) this.parts.push("\n");
    this.parts.push(text);
  }

  /** Starts a line at an indent of two spaces a level. */
  line(level: number): void {
    const start = LINE_STARTS[level] ?? `\n${"  ".repeat(level)}`;
    this.parts.push(this.parts.length > 0 ? start : start.slice(1));
  }

  /** An empty line before the next one; at the start of the text there is none. */
  emptyLine(): void {
    if (this.parts.length > 0) this.parts.push("\n");
  }

  /** Comments on lines of their own. `atStart`: nothing stands before them in their block, so no empty line does either. */
  comments(comments: readonly Comment[], level: number, atStart: boolean): void {
    for (const [index, comment] of comments.entries()) {
      if (comment.blank && !(atStart && index === 0)) this.emptyLine();
      this.line(level);
      this.parts.push(`#${comment.text}`);
    }
  }

  /** A comment behind what was just written. */
  trailingComment(text: string | undefined): void {
    if (text !== undefined) this.parts.push(` #${text}`);
  }

  /** What was written, without a final line end. */
  get text(): string {
    return this.parts.join("");
  }

  /** The whole text, with its final line end; nothing is "". */
  finish(): string {
    if (this.parts.length > 0) this.parts.push("\n");
    return this.text;
  }
}
