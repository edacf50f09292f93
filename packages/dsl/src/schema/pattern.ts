/**
 * Regular expressions in linear time (Thompson's construction): a test costs at most states x characters, whatever the
 * pattern and the text. No backreference, no lookaround. The set of states that is alive behind a character is remembered with
 * its arrows, so a text mostly costs one look a character; what is remembered is bounded, and so is what a text may cost.
 *   R1  a test spends at most its budget: states x characters is linear, and still minutes for the worst of both.
 *   R2  what is remembered changes no answer.
 */

import { append } from "../data.ts";
import { isNamePart } from "../syntax/chars.ts";
import { type CharTest, type PatternNode, PatternProblem, parsePattern } from "./pattern-parse.ts";

/** Longest pattern, in characters; a longer one is a program, not a rule about a value. */
export const MAX_PATTERN_LENGTH = 512;
/** Most states of one pattern; `{1000}` and nested repetitions multiply. */
export const MAX_PATTERN_STATES = 1000;

/** Where a match begins and where it ends, in UTF-16 units. */
export type Match = readonly [start: number, end: number];

/** A pattern that is ready, or why it is refused. */
export type Pattern =
  | {
      readonly ok: true;
      /** False, too, when the budget is spent, which its `left` below 0 tells; without one a test may take as long as it takes. */
      test(text: string, budget?: PatternBudget): boolean;
      /**
       * Where the pattern is first found at `from` or behind it, and where that match ends: of all that begin there the one that
       * ECMAScript takes. Undefined: nowhere, or the budget is spent.
       */
      find(text: string, from: number, budget: PatternBudget): Match | undefined;
    }
  | { readonly ok: false; readonly problem: string };

/** Compiles a pattern; it matches anywhere in a text unless it holds `^` and `$`. Never throws. */
export function compilePattern(
  source: string,
  options: { readonly ignoreCase?: boolean } = {},
): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    return { ok: false, problem: `a pattern has at most ${MAX_PATTERN_LENGTH} characters` };
  }
  try {
    const tree = parsePattern(source, options.ignoreCase ?? false);
    if (countStates(tree) > MAX_PATTERN_STATES) {
      return { ok: false, problem: `a pattern has at most ${MAX_PATTERN_STATES} states` };
    }
    const program = new Program();
    const start = program.build(tree, program.add({ kind: "match" }));
    const runner = new PatternRunner(program.states, start);
    return {
      ok: true,
      test: (text, budget = { left: Number.POSITIVE_INFINITY }) => runner.test(text, budget),
      find: (text, from, budget) => runner.find(text, from, budget),
    };
  } catch (error) {
    if (error instanceof PatternProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

function countStates(node: PatternNode): number {
  if (node.kind === "chars" || node.kind === "assert") return 1;
  if (node.kind === "repeat") {
    const each = countStates(node.of);
    return (each + 1) * (node.max === Infinity ? node.min + 1 : node.max);
  }
  return node.parts.reduce((sum, part) => sum + countStates(part) + 1, 0);
}

/** States with arrows to what follows; built from the end backwards. */
class Program {
  readonly states: State[] = [];

  add(state: State): number {
    return this.states.push(state) - 1;
  }

  /** The state from which `node`, and then `next`, is matched. */
  build(node: PatternNode, next: number): number {
    switch (node.kind) {
      case "chars":
        return this.add({ kind: "chars", test: node.test, next });
      case "assert":
        return this.add({ kind: "assert", what: node.what, next });
      case "sequence":
        return node.parts.reduceRight((after, part) => this.build(part, after), next);
      case "choice":
        return this.add({ kind: "split", next: node.parts.map((part) => this.build(part, next)) });
      case "repeat":
        return this.repeat(node, next);
    }
  }

  private repeat(node: PatternNode & { kind: "repeat" }, next: number): number {
    // The arrow to be tried first comes first.
    const arrows = (more: number): number[] => (node.lazy ? [next, more] : [more, next]);
    let start = next;
    if (node.max === Infinity) {
      const split = { kind: "split", next: [] as number[] } as const;
      start = this.add(split);
      append(split.next, arrows(this.build(node.of, start)));
    } else {
      for (let i = node.min; i < node.max; i += 1) {
        start = this.add({ kind: "split", next: arrows(this.build(node.of, start)) });
      }
    }
    for (let i = 0; i < node.min; i += 1) start = this.build(node.of, start);
    return start;
  }
}

/** Condition on the characters before and behind a place. */
export type Assertion = "start" | "end" | "boundary" | "inside";

/** One state of a pattern, with arrows to what follows. */
export type State =
  | { readonly kind: "match" }
  | { readonly kind: "chars"; readonly test: CharTest; readonly next: number }
  | { readonly kind: "split"; readonly next: number[] }
  | { readonly kind: "assert"; readonly what: Assertion; readonly next: number };

/** Remaining steps of tests: 1 for a character, 20 for a state that has to be looked at. Below 0 a test has no result. */
export interface PatternBudget {
  left: number;
}

/** A quarter of a second at worst; 16 MiB of text against a pattern without surprises cost less. */
export const MAX_PATTERN_STEPS = 20_000_000;

const STEPS_PER_STATE = 20;
const STEPS_PER_THREAD = 4;
/** Sets and arrows that a pattern remembers: a megabyte or two, for patterns that need many. */
const MAX_SETS = 200;
const MAX_ARROWS = 10_000;
const END = -1;
const ASCII = 128;

/** States that are alive between two characters, with what stands before them. */
interface LiveSet {
  readonly states: readonly number[];
  readonly before: number;
  /** By code point; `MATCH`: the pattern is found. */
  readonly ascii: (LiveSet | typeof MATCH | undefined)[];
  readonly others: Map<number, LiveSet | typeof MATCH>;
}

const MATCH = "match";
/** Stand for the character before a place: none, one of `\w`, another one. */
const NOTHING = -1;
const WORD = 0x61;
const OTHER = 0x20;

/** The states that a search has reached behind a character, best first, and where their matches begin. */
class Threads {
  readonly states: Int32Array;
  readonly starts: Int32Array;
  count = 0;

  /** Each state eats a character into one other, and the start of the pattern is one more. */
  constructor(states: number) {
    this.states = new Int32Array(states + 1);
    this.starts = new Int32Array(states + 1);
  }

  add(state: number, start: number): void {
    this.states[this.count] = state;
    this.starts[this.count] = start;
    this.count += 1;
  }
}

/** Class of a character for the assertions behind it. */
function wordness(code: number): number {
  return isNamePart(code) ? WORD : OTHER;
}

/** A pattern that can be run. */
class PatternRunner {
  readonly #states: readonly State[];
  readonly #start: number;
  readonly #seen: Int32Array;
  #mark = 0;
  readonly #sets: Map<string, LiveSet> = new Map();
  readonly #idle: Map<number, LiveSet> = new Map();
  readonly #open: number[] = [];
  #arrows = 0;

  constructor(states: readonly State[], start: number) {
    this.#states = states;
    this.#start = start;
    this.#seen = new Int32Array(states.length);
  }

  /** Whether the pattern is found; false when the budget is spent. */
  test(text: string, budget: PatternBudget): boolean {
    let set = this.#set([], NOTHING);
    for (let at = 0; budget.left >= 0; ) {
      const unit = at < text.length ? text.charCodeAt(at) : END;
      const isAscii = unit < ASCII && unit >= 0;
      const code = isAscii ? unit : (text.codePointAt(at) ?? END);
      const known = isAscii ? set.ascii[unit] : set.others.get(code);
      budget.left -= 1;
      const next = known ?? this.#arrow(set, code, budget);
      if (next === MATCH) return true;
      if (code === END) return false;
      set = next;
      at += code > 0xffff ? 2 : 1;
    }
    return false;
  }

  /**
   * The match that a backtracking search would take (Pike's construction): threads in the order in which it would try them, each
   * with the place where its match begins; of two at one state the later one can win nothing.
   */
  find(text: string, from: number, budget: PatternBudget): Match | undefined {
    let found: Match | undefined;
    let now = new Threads(this.#states.length);
    let next = new Threads(this.#states.length);
    let before = from === 0 ? NOTHING : wordness(text.charCodeAt(from - 1));
    budget.left -= STEPS_PER_STATE;
    for (let at = from; budget.left >= 0; ) {
      const code = at < text.length ? (text.codePointAt(at) as number) : END;
      budget.left -= 1;
      if (now.count > 0 || this.#mayBegin(before, code, budget)) {
        next.count = 0;
        this.#mark += 1;
        // A match that began further left is the better one.
        if (found === undefined) now.add(this.#start, at);
        for (let i = 0; i < now.count; i += 1) {
          const start = now.starts[i] as number;
          if (!this.#follow(now.states[i] as number, start, before, code, next, budget)) continue;
          found = [start, at];
          break;
        }
        [now, next] = [next, now];
      }
      if (code === END || (found !== undefined && now.count === 0)) return found;
      before = wordness(code);
      at += code > 0xffff ? 2 : 1;
    }
    return undefined;
  }

  /** Whether a match may begin between two characters, as far as one look tells. */
  #mayBegin(before: number, code: number, budget: PatternBudget): boolean {
    let idle = this.#idle.get(before);
    if (idle === undefined) {
      idle = this.#set([], before);
      this.#idle.set(before, idle);
    }
    const known = code < ASCII && code >= 0 ? idle.ascii[code] : idle.others.get(code);
    const next = known ?? this.#arrow(idle, code, budget);
    return next === MATCH || next.states.length > 0;
  }

  /** Follows a thread to the states that eat the character, best first; true: it ends in a match before that. */
  #follow(
    from: number,
    start: number,
    before: number,
    code: number,
    next: Threads,
    budget: PatternBudget,
  ): boolean {
    const open = this.#open;
    open.length = 0;
    for (let index: number | undefined = from; index !== undefined; index = open.pop()) {
      if (this.#seen[index] === this.#mark) continue;
      this.#seen[index] = this.#mark;
      budget.left -= STEPS_PER_THREAD;
      const state = this.#states[index] as State;
      if (state.kind === "match") return true;
      if (state.kind === "split") {
        for (let i = state.next.length - 1; i >= 0; i -= 1) open.push(state.next[i] as number);
      } else if (state.kind === "assert") {
        if (holds(state.what, before, code)) open.push(state.next);
      } else if (code !== END && state.test(code)) next.add(state.next, start);
    }
    return false;
  }

  #arrow(set: LiveSet, code: number, budget: PatternBudget): LiveSet | typeof MATCH {
    const live = this.#reach(set, code, budget);
    let next: LiveSet | typeof MATCH = MATCH;
    if (live !== MATCH) {
      const states: number[] = [];
      for (const index of live) {
        const state = this.#states[index];
        if (state?.kind === "chars" && code !== END && state.test(code)) states.push(state.next);
      }
      next = this.#set(states, wordness(code));
    }
    if (this.#arrows >= MAX_ARROWS) this.#forget();
    this.#arrows += 1;
    if (code !== END && code < ASCII) set.ascii[code] = next;
    else set.others.set(code, next);
    return next;
  }

  #set(states: readonly number[], before: number): LiveSet {
    const distinct = [...new Set(states)].sort((a, b) => a - b);
    const key = `${before}:${distinct.join()}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    if (this.#sets.size >= MAX_SETS) this.#forget();
    const made: LiveSet = { states: distinct, before, ascii: new Array(ASCII), others: new Map() };
    this.#sets.set(key, made);
    return made;
  }

  #forget(): void {
    this.#sets.clear();
    this.#arrows = 0;
  }

  /** Follows the arrows that eat no character, from the set and from the start of the pattern. */
  #reach(set: LiveSet, code: number, budget: PatternBudget): readonly number[] | typeof MATCH {
    this.#mark += 1;
    const live: number[] = [];
    const open = [this.#start, ...set.states];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.#seen[index] === this.#mark) continue;
      this.#seen[index] = this.#mark;
      budget.left -= STEPS_PER_STATE;
      const state = this.#states[index] as State;
      if (state.kind === "match") return MATCH;
      if (state.kind === "chars") live.push(index);
      else if (state.kind === "split") append(open, state.next);
      else if (holds(state.what, set.before, code)) open.push(state.next);
    }
    return live;
  }
}

function holds(what: Assertion, before: number, code: number): boolean {
  if (what === "start") return before === NOTHING;
  if (what === "end") return code === END;
  return (isNamePart(before) !== isNamePart(code)) === (what === "boundary");
}
