/** Lines of canonical text: indentation, empty lines and comments. */
import type { Comment } from "./tree.ts";

export class Writer {
  /** What was written so far. */
  text = "";

  write(text: string): void {
    this.text += text;
  }

  /** Lines that were printed elsewhere, with their indent. */
  lines(text: string): void {
    if (this.text !== "") this.text += "\n";
    this.text += text;
  }

  /** Starts a line at an indent of two spaces a level. */
  line(level: number): void {
    if (this.text !== "") this.text += "\n";
    this.text += "  ".repeat(level);
  }

  /** An empty line before the next one; at the start of the text there is none. */
  emptyLine(): void {
    if (this.text !== "") this.text += "\n";
  }

  /** Comments on lines of their own. `atStart`: nothing stands before them in their block, so no empty line does either. */
  comments(comments: readonly Comment[], level: number, atStart: boolean): void {
    for (const [index, comment] of comments.entries()) {
      if (comment.blank && !(atStart && index === 0)) this.emptyLine();
      this.line(level);
      this.text += `#${comment.text}`;
    }
  }

  /** A comment behind what was just written. */
  trail(text: string | undefined): void {
    if (text !== undefined) this.text += ` #${text}`;
  }

  /** The whole text, with its final line end; nothing is "". */
  finish(): string {
    return this.text === "" ? "" : `${this.text}\n`;
  }
}
