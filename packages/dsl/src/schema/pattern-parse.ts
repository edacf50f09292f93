/** Reads the regular expressions of JSON Schema `pattern` (ECMAScript, `u` flag) as far as they run in linear time. */

import { isDigit } from "../syntax/chars.ts";

/** A set of code points. */
export type CharTest = (code: number) => boolean;

/** A pattern as a tree. */
export type PatternNode =
  | { readonly kind: "chars"; readonly test: CharTest }
  | { readonly kind: "assert"; readonly what: "start" | "end" | "boundary" | "inside" }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly of: PatternNode;
      readonly min: number;
      readonly max: number;
      /** As few as possible are taken. */
      readonly lazy: boolean;
    };

/** Why a pattern is refused. Thrown inside this folder only. */
export class PatternProblem extends Error {}

/** The tree of a pattern. Throws `PatternProblem`. */
export function parsePattern(source: string, ignoreCase: boolean): PatternNode {
  const parser = new PatternParser(Array.from(source), ignoreCase);
  return parser.parse();
}

/** One escape or class of characters, or any other character, in the spelling of the `u` flag. */
const ESCAPE =
  /^\\(?:u\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u.{0,4}|x.{0,2}|c.?|[pP](?:\{[^}]*\})?|.)/su;
const CLASS = /^\[(?:[^\]\\]|\\.)*\]/su;

class PatternParser {
  private at = 0;
  private readonly source: readonly string[];
  private readonly ignoreCase: boolean;

  constructor(source: readonly string[], ignoreCase: boolean) {
    this.source = source;
    this.ignoreCase = ignoreCase;
  }

  parse(): PatternNode {
    const node = this.choice();
    if (this.at < this.source.length) fail("a `)` closes nothing");
    return node;
  }

  private choice(): PatternNode {
    const parts = [this.sequence()];
    while (this.take("|")) parts.push(this.sequence());
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: "choice", parts };
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.at < this.source.length && this.peek() !== "|" && this.peek() !== ")") {
      parts.push(this.term());
    }
    return { kind: "sequence", parts };
  }

  private term(): PatternNode {
    const atom = this.atom();
    const bounds = this.quantifier();
    if (bounds === undefined) return atom;
    if (atom.kind === "assert") fail("an assertion cannot be repeated");
    return { kind: "repeat", of: atom, ...bounds, lazy: this.take("?") };
  }

  private quantifier(): { min: number; max: number } | undefined {
    if (this.take("*")) return { min: 0, max: Infinity };
    if (this.take("+")) return { min: 1, max: Infinity };
    if (this.take("?")) return { min: 0, max: 1 };
    if (!this.take("{")) return undefined;
    const min = this.integer();
    let max = min;
    if (this.take(",")) max = this.peek() === "}" ? Infinity : this.integer();
    if (!this.take("}")) fail("a `{` starts no repetition");
    if (max < min) fail("a repetition ends before it starts");
    return { min, max };
  }

  private integer(): number {
    let digits = "";
    while (isDigit(this.peek()?.codePointAt(0) ?? -1)) digits += this.next();
    if (digits === "") fail("a `{` starts no repetition");
    return Number(digits);
  }

  private atom(): PatternNode {
    const char = this.next();
    switch (char) {
      case "(":
        return this.group();
      case "[":
        return this.chars(this.rest(CLASS) ?? fail("a `[` is not closed"), "a bad character class");
      case ".":
        return this.chars(char, "");
      case "^":
        return { kind: "assert", what: "start" };
      case "$":
        return { kind: "assert", what: "end" };
      case "\\":
        if (this.take("b")) return { kind: "assert", what: "boundary" };
        if (this.take("B")) return { kind: "assert", what: "inside" };
        return this.escape();
      case "*":
      case "+":
      case "?":
        return fail("nothing to repeat");
      case "{":
      case "}":
      case "]":
        return fail(`a \`${char}\` stands alone; write \`\\${char}\``);
      default:
        if (this.ignoreCase) return this.chars(char, "");
        return { kind: "chars", test: (code) => code === char.codePointAt(0) };
    }
  }

  private group(): PatternNode {
    if (this.take("?")) {
      if (this.take("<")) {
        if (this.peek() === "=" || this.peek() === "!") fail("no lookbehind");
        while (this.at < this.source.length && this.next() !== ">");
      } else if (!this.take(":")) {
        fail(this.peek() === "=" || this.peek() === "!" ? "no lookahead" : "no group flags");
      }
    }
    const node = this.choice();
    if (!this.take(")")) fail("a `(` is not closed");
    return node;
  }

  private escape(): PatternNode {
    const text = this.rest(ESCAPE) ?? fail("it ends too early");
    if (/^\\[1-9k]/.test(text)) fail("no backreference");
    const name = /^\\p\{(.*)\}$/is.exec(text)?.[1];
    return this.chars(
      text,
      name === undefined ? `unknown escape \`${text}\`` : `unknown property \`${name}\``,
    );
  }

  /** The text from the character that was read last as far as it matches; goes on behind it. */
  private rest(what: RegExp): string | undefined {
    const text = what.exec(this.source.slice(this.at - 1).join(""))?.[0];
    if (text !== undefined) this.at += Array.from(text).length - 1;
    return text;
  }

  /** One character against one class never backtracks, so the platform's own engine and tables serve. */
  private chars(text: string, problem: string): PatternNode {
    let own: RegExp;
    try {
      own = new RegExp(`^${text}$`, this.ignoreCase ? "iu" : "u");
    } catch {
      return fail(problem);
    }
    const test = (code: number): boolean => own.test(String.fromCodePoint(code));
    const ascii = Array.from({ length: 128 }, (_, code) => test(code));
    return { kind: "chars", test: (code) => ascii[code] ?? test(code) };
  }

  private peek(): string | undefined {
    return this.source[this.at];
  }

  private next(): string {
    const char = this.source[this.at];
    if (char === undefined) return fail("it ends too early");
    this.at += 1;
    return char;
  }

  private take(char: string): boolean {
    if (this.source[this.at] !== char) return false;
    this.at += 1;
    return true;
  }
}

function fail(problem: string): never {
  throw new PatternProblem(problem);
}
