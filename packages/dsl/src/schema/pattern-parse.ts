/** Reads the regular expressions of JSON Schema `pattern` (ECMAScript, `u` flag) as far as they run in linear time. */

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
    };

/** Why a pattern is refused. Thrown inside this folder only. */
export class PatternProblem extends Error {}

/** The tree of a pattern. Throws `PatternProblem`. */
export function parsePattern(source: string, ignoreCase: boolean): PatternNode {
  const parser = new PatternParser(Array.from(source), ignoreCase);
  return parser.parse();
}

const SHORTHANDS: { readonly [letter: string]: CharTest } = {
  d: isDigit,
  w: isWord,
  s: isSpace,
};

const CONTROL_ESCAPES: { readonly [letter: string]: number } = { t: 9, n: 10, v: 11, f: 12, r: 13 };

const SYNTAX = "^$\\.*+?()[]{}|/";

class PatternParser {
  private at = 0;
  private readonly chars: readonly string[];
  private readonly ignoreCase: boolean;

  constructor(chars: readonly string[], ignoreCase: boolean) {
    this.chars = chars;
    this.ignoreCase = ignoreCase;
  }

  parse(): PatternNode {
    const node = this.choice();
    if (this.at < this.chars.length) fail("a `)` closes nothing");
    return node;
  }

  private choice(): PatternNode {
    const parts = [this.sequence()];
    while (this.take("|")) parts.push(this.sequence());
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: "choice", parts };
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.at < this.chars.length && this.peek() !== "|" && this.peek() !== ")") {
      parts.push(this.term());
    }
    return { kind: "sequence", parts };
  }

  private term(): PatternNode {
    const atom = this.atom();
    const bounds = this.quantifier();
    if (bounds === undefined) return atom;
    if (atom.kind === "assert") fail("an assertion cannot be repeated");
    this.take("?"); // lazy: which text is matched does not matter to a test
    return { kind: "repeat", of: atom, ...bounds };
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
        return { kind: "chars", test: this.charClass() };
      case ".":
        return { kind: "chars", test: (code) => !isLineEnd(code) };
      case "^":
        return { kind: "assert", what: "start" };
      case "$":
        return { kind: "assert", what: "end" };
      case "\\":
        if (this.take("b")) return { kind: "assert", what: "boundary" };
        if (this.take("B")) return { kind: "assert", what: "inside" };
        return { kind: "chars", test: this.single(this.escape()) };
      case "*":
      case "+":
      case "?":
        return fail("nothing to repeat");
      case "{":
      case "}":
      case "]":
        return fail(`a \`${char}\` stands alone; write \`\\${char}\``);
      default:
        return { kind: "chars", test: this.single(char.codePointAt(0) ?? 0) };
    }
  }

  private group(): PatternNode {
    if (this.take("?")) {
      if (this.take("<")) {
        if (this.peek() === "=" || this.peek() === "!") fail("no lookbehind");
        while (this.at < this.chars.length && this.next() !== ">");
      } else if (!this.take(":")) {
        fail(this.peek() === "=" || this.peek() === "!" ? "no lookahead" : "no group flags");
      }
    }
    const node = this.choice();
    if (!this.take(")")) fail("a `(` is not closed");
    return node;
  }

  private charClass(): CharTest {
    const negated = this.take("^");
    const tests: CharTest[] = [];
    while (!this.take("]")) {
      if (this.at >= this.chars.length) fail("a `[` is not closed");
      const from = this.classAtom();
      if (this.peek() !== "-" || this.chars[this.at + 1] === "]") {
        tests.push(this.single(from));
        continue;
      }
      this.next();
      const to = this.classAtom();
      if (typeof from !== "number" || typeof to !== "number") fail("a range needs two characters");
      else if (to < from) fail("a range ends before it starts");
      else tests.push(this.folded((code) => code >= from && code <= to));
    }
    return (code) => tests.some((test) => test(code)) !== negated;
  }

  private classAtom(): number | CharTest {
    const char = this.next();
    if (char !== "\\") return char.codePointAt(0) ?? 0;
    if (this.take("b")) return 8;
    if (this.take("-")) return 45;
    return this.escape();
  }

  private escape(): number | CharTest {
    const letter = this.next();
    const shorthand = SHORTHANDS[letter.toLowerCase()];
    if (shorthand !== undefined) {
      return letter === letter.toLowerCase() ? shorthand : (code) => !shorthand(code);
    }
    const control = CONTROL_ESCAPES[letter];
    if (control !== undefined) return control;
    if (letter === "0" && !isDigit(this.peek()?.codePointAt(0) ?? -1)) return 0;
    if (letter === "x") return this.hex(2);
    if (letter === "u") return this.unicode();
    if (letter === "p" || letter === "P") return this.property(letter === "P");
    if (letter === "c" && /^[A-Za-z]$/.test(this.peek() ?? "")) {
      return (this.next().codePointAt(0) ?? 0) % 32;
    }
    if (isDigit(letter.codePointAt(0) ?? -1) || letter === "k") fail("no backreference");
    if (!SYNTAX.includes(letter)) fail(`unknown escape \`\\${letter}\``);
    return letter.codePointAt(0) ?? 0;
  }

  private unicode(): number {
    if (this.take("{")) {
      let digits = "";
      while (this.peek() !== "}" && this.at < this.chars.length) digits += this.next();
      if (!this.take("}") || !/^[0-9A-Fa-f]{1,6}$/.test(digits)) fail("a bad `\\u{…}`");
      return Number.parseInt(digits, 16);
    }
    const high = this.hex(4);
    const pair = this.chars.slice(this.at, this.at + 6).join("");
    if (high < 0xd800 || high > 0xdbff || !/^\\u[dD][c-fC-F][0-9A-Fa-f]{2}$/.test(pair))
      return high;
    this.at += 6;
    return 0x10000 + ((high - 0xd800) << 10) + (Number.parseInt(pair.slice(2), 16) - 0xdc00);
  }

  private hex(length: number): number {
    const digits = this.chars.slice(this.at, this.at + length).join("");
    if (digits.length < length || !/^[0-9A-Fa-f]+$/.test(digits)) fail("a bad hexadecimal escape");
    this.at += length;
    return Number.parseInt(digits, 16);
  }

  /** `\p{…}`: one character against one property never backtracks, so the platform's own tables serve. */
  private property(negated: boolean): CharTest {
    let name = "";
    if (this.take("{"))
      while (this.peek() !== "}" && this.at < this.chars.length) name += this.next();
    if (!this.take("}") || !/^[A-Za-z_0-9=]+$/.test(name)) fail("a bad `\\p{…}`");
    let test: RegExp;
    try {
      test = new RegExp(`^\\p{${name}}$`, "u");
    } catch {
      return fail(`unknown property \`${name}\``);
    }
    return (code) => test.test(String.fromCodePoint(code)) !== negated;
  }

  private single(what: number | CharTest): CharTest {
    return this.folded(typeof what === "number" ? (code) => code === what : what);
  }

  private folded(test: CharTest): CharTest {
    if (!this.ignoreCase) return test;
    return (code) => test(code) || test(lowerOf(code)) || test(upperOf(code));
  }

  private peek(): string | undefined {
    return this.chars[this.at];
  }

  private next(): string {
    const char = this.chars[this.at];
    if (char === undefined) return fail("it ends too early");
    this.at += 1;
    return char;
  }

  private take(char: string): boolean {
    if (this.chars[this.at] !== char) return false;
    this.at += 1;
    return true;
  }
}

/** `\d`. */
function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** `\w`; word boundaries are between such and others. */
export function isWord(code: number): boolean {
  return isDigit(code) || code === 95 || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13 || code === 0x2028 || code === 0x2029;
}

function isSpace(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13);
  return (
    code === 0xfeff ||
    isLineEnd(code) ||
    (code >= 0xa0 && /^\p{Zs}$/u.test(String.fromCodePoint(code)))
  );
}

function lowerOf(code: number): number {
  return String.fromCodePoint(code).toLowerCase().codePointAt(0) ?? code;
}

function upperOf(code: number): number {
  return String.fromCodePoint(code).toUpperCase().codePointAt(0) ?? code;
}

function fail(problem: string): never {
  throw new PatternProblem(problem);
}
