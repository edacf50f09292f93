/**
 * Regular expressions in linear time (Thompson's construction): a test costs at most states x characters, whatever the
 * pattern and the text. No backreference, no lookaround.
 */
import { type PatternNode, PatternProblem, parsePattern } from "./pattern-parse.ts";
import { type PatternBudget, PatternRunner, type State } from "./pattern-run.ts";

/** Longest pattern, in characters; a longer one is a program, not a rule about a value. */
export const MAX_PATTERN_LENGTH = 512;
/** Most states of one pattern; `{1000}` and nested repetitions multiply. */
export const MAX_PATTERN_STATES = 1000;

/** A pattern that is ready, or why it is refused. */
export type Pattern =
  | {
      readonly ok: true;
      /** False, too, when the budget is spent, which its `left` below 0 tells; without one a test may take as long as it takes. */
      test(text: string, budget?: PatternBudget): boolean;
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
    let start = next;
    if (node.max === Infinity) {
      const arrows = [next];
      start = this.add({ kind: "split", next: arrows });
      arrows.push(this.build(node.of, start));
    } else {
      for (let i = node.min; i < node.max; i += 1) {
        start = this.add({ kind: "split", next: [next, this.build(node.of, start)] });
      }
    }
    for (let i = 0; i < node.min; i += 1) start = this.build(node.of, start);
    return start;
  }
}
