/**
 * Where a cursor stands, by one scan over brackets, strings, holes and comments up to it: it works in any text, however much of it
 * does not parse.
 */

import { lineEnd } from "../syntax/skip.ts";

/** Container that a bracket opens. `type`: the members of an object type. */
type LevelKind = "file" | "block" | "object" | "type" | "list" | "group" | "hole";

/** One bracket that is open at the cursor; the outermost level is the file. */
export interface Level {
  readonly kind: LevelKind;
  /** Offset of its bracket. */
  readonly at: number;
  /** Start of the item, element or argument that the cursor, or the next level, is in. */
  itemStart: number;
  /** Offset of the `=`, or of the `:` of an object's member, in that item; -1: none. */
  equalsAt: number;
  /** Whether the item has `->`. */
  hasArrow: boolean;
  /** Elements or arguments before that item. */
  count: number;
}

/** Where a cursor stands. */
export interface CursorPlace {
  /** From the file to the innermost bracket. */
  readonly levels: readonly Level[];
  readonly inside: "code" | "comment" | "string" | "block-string";
  /** Start of the string or comment around the cursor. */
  readonly start: number;
}

interface OpenString {
  readonly start: number;
  /** `"` or `'`, or the fence of a block string. */
  readonly quotes: string;
  readonly isBlock: boolean;
}

/** Finds where an offset stands. Linear in the offset. */
export function placeAt(text: string, offset: number): CursorPlace {
  return new Scan(text, offset).run();
}

class Scan {
  readonly #text: string;
  readonly #end: number;
  readonly #levels: Level[] = [levelOf("file", -1, 0)];
  /** The string that each open hole stands in. */
  readonly #strings: OpenString[] = [];
  #at = 0;
  /** The last character of the code that is no blank. */
  #last = "";

  constructor(text: string, offset: number) {
    this.#text = text;
    this.#end = offset;
  }

  run(): CursorPlace {
    while (this.#at < this.#end) {
      const found = this.#step();
      if (found !== undefined) return found;
    }
    return this.#place("code", this.#at);
  }

  #place(inside: CursorPlace["inside"], start: number): CursorPlace {
    return { levels: this.#levels, inside, start };
  }

  get #level(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** Reads one token; the place when the cursor stands in it. */
  #step(): CursorPlace | undefined {
    const text = this.#text;
    const at = this.#at;
    const char = text[at] as string;
    const next = text[at + 1];
    if (char === "#" || (char === "/" && next === "/")) return this.#comment(lineEnd(text, at));
    if (char === "/" && next === "*") {
      const end = text.indexOf("*/", at + 2);
      return this.#comment(end === -1 ? text.length : end + 2);
    }
    if (char === '"') return this.#quote();
    if (char === "'" && text.slice(at + 1, lineEnd(text, at)).includes("'")) {
      return this.#string({ start: at, quotes: "'", isBlock: false }, at + 1);
    }
    this.#at += 1;
    const level = this.#level;
    const isOfBlock = level.kind === "file" || level.kind === "block";
    if (char === "\n" || char === ";") {
      if (isOfBlock) this.#nextItem();
    } else if (char === "{" || char === "[" || char === "(") this.#open(char, at);
    else if (char === "}" || char === "]" || char === ")") return this.#close(char);
    else if (char === "," && !isOfBlock) this.#nextItem();
    else if (char === "-" && next === ">") {
      level.hasArrow = true;
      this.#at += 1;
    } else if (char === "=" && next !== "=" && !"=<>!".includes(text[at - 1] ?? " ")) {
      if (level.equalsAt < 0) level.equalsAt = at;
    } else if (char === ":" && level.kind === "object" && level.equalsAt < 0) level.equalsAt = at;
    if (!" \t\r\n".includes(char)) this.#last = char;
    return undefined;
  }

  #nextItem(): void {
    const level = this.#level;
    level.itemStart = this.#at;
    level.equalsAt = -1;
    level.hasArrow = false;
    level.count += 1;
  }

  #comment(end: number): CursorPlace | undefined {
    const start = this.#at;
    // A comment takes its line up to the end: behind its last character the cursor is still in it.
    if (this.#end <= end && this.#end > start) return this.#place("comment", start);
    this.#at = end;
    return undefined;
  }

  #quote(): CursorPlace | undefined {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    while (text[at] === '"') at += 1;
    const count = at - start;
    if (count === 2) {
      if (this.#end === start + 1) return this.#place("string", start);
      this.#at = at;
      this.#last = '"';
      return undefined;
    }
    const isBlock = count > 2 && text.slice(at, lineEnd(text, at)).trim() === "";
    const quotes = isBlock ? text.slice(start, at) : '"';
    return this.#string({ start, quotes, isBlock }, isBlock ? at : start + 1);
  }

  /** Reads a string from `at` on, to its end or to a hole in it. */
  #string(string: OpenString, from: number): CursorPlace | undefined {
    const text = this.#text;
    const inside = string.isBlock ? "block-string" : "string";
    let at = from;
    for (; at < this.#end; at += 1) {
      const char = text[at];
      if (char === "\\" && text[at + 1] !== "\n") at += 1;
      else if (char === "$" && text[at + 1] === "{") {
        if (this.#end < at + 2) return this.#place(inside, string.start);
        this.#levels.push(levelOf("hole", at, at + 2));
        this.#strings.push(string);
        this.#at = at + 2;
        this.#last = "";
        return undefined;
      } else if (string.isBlock) {
        if (char !== "\n") continue;
        const fence = fenceEnd(text, at + 1, string.quotes);
        if (fence === undefined) continue;
        if (this.#end < fence) return this.#place(inside, string.start);
        return this.#behindString(fence);
      } else if (char === string.quotes) return this.#behindString(at + 1);
      else if (char === "\n") return this.#behindString(at); // it was not closed
    }
    return this.#place(inside, string.start);
  }

  #behindString(at: number): undefined {
    this.#at = at;
    this.#last = '"';
  }

  #open(char: string, at: number): void {
    const { kind, equalsAt, hasArrow } = this.#level;
    let opened: LevelKind = char === "[" ? "list" : "group";
    if (char === "{") {
      // `output x = 1 {`: behind a whole value a block begins.
      const isBehindValue = kind === "file" && /[\w"\])}]/.test(this.#last);
      const isHead =
        (kind === "file" || kind === "block") && (equalsAt < 0 || isBehindValue) && !hasArrow;
      const isType = this.#last === ":" && (isHead || kind === "type");
      opened = isType || kind === "type" ? "type" : isHead ? "block" : "object";
    }
    this.#levels.push(levelOf(opened, at, at + 1));
    this.#last = "";
  }

  /** Closes the innermost bracket of the kind, with all that was left open in it; goes on in the string of a hole. */
  #close(char: string): CursorPlace | undefined {
    const kinds: readonly LevelKind[] =
      char === "]" ? ["list"] : char === ")" ? ["group"] : ["block", "object", "type", "hole"];
    const index = this.#levels.findLastIndex(({ kind }) => kinds.includes(kind));
    // A bracket of a value does not close the block around it.
    const isBarred =
      char !== "}" && this.#levels.slice(index + 1).some(({ kind }) => kind === "block");
    if (index === -1 || isBarred) return undefined;
    const closed = this.#levels.splice(index);
    const holes = closed.filter(({ kind }) => kind === "hole").length;
    const strings = this.#strings.splice(this.#strings.length - holes, holes);
    this.#last = char;
    const string = closed[0]?.kind === "hole" ? strings[0] : undefined;
    return string === undefined ? undefined : this.#string(string, this.#at);
  }
}

function levelOf(kind: LevelKind, at: number, itemStart: number): Level {
  return { kind, at, itemStart, equalsAt: -1, hasArrow: false, count: 0 };
}

/** The end of the fence that closes a block string, when the line holds just that in front. */
function fenceEnd(text: string, line: number, quotes: string): number | undefined {
  let at = line;
  while (text[at] === " " || text[at] === "\t") at += 1;
  const end = at + quotes.length;
  return text.startsWith(quotes, at) && text[end] !== '"' ? end : undefined;
}
