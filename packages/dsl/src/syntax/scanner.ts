import type { Expression } from "./ast.ts";
import { CHAR, CLASSES, codeName, isStrangeBlank, unicodeEscape } from "./chars.ts";
import { Cursor } from "./cursor.ts";
import { readSemicolons, readStarComment, strangeCharacter } from "./foreign.ts";

/** The results of `peek` at the end of a line and of the text. */
export const LINE_END = 10;
export const TEXT_END = -1;

/** How canonical text is laid out, for the strict reader (`read/strict-layout.ts`). */
export interface Layout {
  /** Moves to the next item of a block, over the comments before it, or behind the `}`; false for that. */
  hasItem(s: Scanner): boolean;
  /** Moves to the next element of the list or object that begins at `start`, or behind its closer; false for that. */
  hasElement(s: Scanner, closer: number, start: number, count: number): boolean;
  /** Checks that the list or object from `start` to `pos` is on one line exactly when it fits there. */
  checkLines(s: Scanner, start: number, count: number): void;
  /** Checks the block string with these lines, indent and number of quotes. */
  checkBlock(s: Scanner, lines: string, indent: number, quotes: number): void;
  /** Checks the comment that stands behind an item, and moves to its line end. */
  skipComment(s: Scanner): void;
  /** Moves over blanks and line ends before an item of the file, and counts the line ends. */
  skipEmptyLines(s: Scanner): number;
  /** Moves over the comments before an item of the file. */
  skipLead(s: Scanner): void;
}

export abstract class Scanner extends Cursor {
  /** Set where the strict reader keeps the text: it reads only what is as it is printed, at indent `level`. */
  layout: Layout | undefined;
  level = 0;
  /** Elements on the stack that belong to what the strict reader reads. */
  top = 0;
  /** Whether the item that the strict reader reads has braces. */
  hasBlock = false;

  /**
   * Reads one expression and sets `height`. `inValue`: the expression is the value of an attribute, so a list or object keeps
   * its comments and empty lines.
   */
  abstract readValue(inValue?: boolean): Expression;

  /** Reads `${ expr }` at `pos`, and `${{ expr }}` of other tools. */
  abstract readHole(): Expression;

  /** Enters the bracket at `at`, in which line ends are blanks. Returns the value of `flat` for `closeBracket`. */
  openBracket(at: number): number {
    this.enter(at);
    const { flat } = this;
    this.flat = 1;
    this.pos = at + 1;
    return flat;
  }

  /** Leaves a bracket at its closing character; fails when another one is there. */
  closeBracket(closer: number, flat: number): void {
    if (this.peek() !== closer) this.expected(`\`${String.fromCharCode(closer)}\``);
    this.flat = flat;
    this.pos = this.tokenEnd = this.pos + 1;
    this.depth -= 1;
  }

  /** The next character that is not blank; `LINE_END` also for a comment or `;`, `TEXT_END` at the end. */
  peek(): number {
    const { src, pos } = this;
    if (pos >= src.length) return TEXT_END;
    const code = src.charCodeAt(pos);
    return code < 128 && (CLASSES[code] as number) <= CHAR.other ? code : this.peekBehind();
  }

  /** `peek` where something has to be skipped first, or the character is not ASCII. */
  private peekBehind(): number {
    while (this.pos < this.src.length) {
      const code = this.src.charCodeAt(this.pos);
      if (code < 128) {
        const kind = CLASSES[code] as number;
        if (kind <= CHAR.other) return code;
        if (kind === CHAR.blank) {
          this.pos += 1;
          continue;
        }
        if (kind === CHAR.newline || code === 35 || code === 59) {
          if (this.flat === 0) return LINE_END;
          this.skipLines();
          continue;
        }
        if (kind === CHAR.control) {
          strangeCharacter(this, code);
          continue;
        }
        const next = this.src.charCodeAt(this.pos + 1);
        if (next === 47) {
          if (this.flat === 0) return LINE_END;
          this.skipLines();
        } else if (next === 42) readStarComment(this, false);
        else return code;
      } else {
        if (!isStrangeBlank(code)) return code;
        strangeCharacter(this, code);
      }
    }
    return TEXT_END;
  }

  /** Skips blanks, line ends and comments; sets `blank`. */
  skipLines(): void {
    let newlines = 0;
    while (this.pos < this.src.length) {
      const code = this.src.charCodeAt(this.pos);
      if (code < 128 && CLASSES[code] === CHAR.blank) this.pos += 1;
      else if (code === 10) {
        newlines += 1;
        this.pos += 1;
      } else if (this.atComment()) {
        if (this.isStarComment()) readStarComment(this, newlines > 1);
        else this.comments.push({ text: this.readLineComment(), blank: newlines > 1 });
        newlines = 0;
      } else if (code === 59) {
        readSemicolons(this);
      } else if (code < 32 || (code >= 128 && isStrangeBlank(code))) {
        strangeCharacter(this, code);
      } else break;
    }
    this.blank = newlines > 1;
  }

  /** Whether a comment starts here. */
  atComment(): boolean {
    const code = this.src.charCodeAt(this.pos);
    const next = code === 47 ? this.src.charCodeAt(this.pos + 1) : 0;
    return code === 35 || next === 47 || next === 42;
  }

  /** The comment that follows on this line, if there is one. */
  readTrailingComment(): string | undefined {
    while (this.src.charCodeAt(this.pos) === 59) {
      readSemicolons(this);
      this.skipBlanks();
    }
    if (!this.atComment() || this.isStarComment()) return undefined;
    return this.readLineComment();
  }

  private isStarComment(): boolean {
    return this.src.startsWith("/*", this.pos);
  }

  /** Reads `# …` or `// …` up to the line end and gives its text. */
  private readLineComment(): string {
    const start = this.pos;
    const slashes = this.src.charCodeAt(start) === 47;
    const end = this.lineEnd(start);
    if (slashes) this.error("FLOW1103", start, start + 2, { fix: "#" });
    this.pos = end;
    return this.commentText(start + (slashes ? 2 : 1), end);
  }

  private commentText(start: number, end: number): string {
    const { src } = this;
    let last = end;
    while (last > start && CLASSES[src.charCodeAt(last - 1)] === CHAR.blank) last -= 1;
    const text = src.slice(start, last);
    if (!this.hasControl || !text.includes("\0")) return text;
    const at = src.indexOf("\0", start);
    this.error("FLOW1002", at, at + 1, {
      severity: "warning",
      parts: { char: codeName(0), place: "comment", escape: unicodeEscape(0) },
      hint: null,
    });
    return text.replaceAll("\0", "").replace(/[ \t]+$/, "");
  }
}
