/**
 * Functions that look for a pattern. Patterns are those of JSON Schema `pattern`, without what cannot run in linear time; a search
 * is paid for by what it looks at, so no pattern and no text can take more than the budget.
 */
import { compilePattern, type Match, type Pattern } from "../../schema/pattern.ts";
import { STRING } from "../../types/flow-type.ts";
import { badArgument, type Evaluation, handleText, kept, produceText, spend } from "../budget.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";

type Ready = Extract<Pattern, { ok: true }>;

/** Steps of a search that take as long as one step of an evaluation. */
const SEARCH_STEPS = 8;
/** Steps to read one character of a pattern: of a class of characters a table is made. */
const READING_STEPS = 30;

export const PATTERNS: readonly FunctionRow[] = [
  define<[string, string]>({
    signature: "matches(string, pattern) bool",
    params: [STRING, STRING],
    check: checkPattern,
    call(ev, site, text, source) {
      const pattern = readyPattern(ev, site, source);
      return paid(ev, site, (budget) => pattern.test(text, budget));
    },
  }),
  define<[string, string, string]>({
    signature: "replaceAll(string, pattern, to) string",
    params: [STRING, STRING, STRING],
    check: checkPattern,
    call(ev, site, text, source, to) {
      const pattern = readyPattern(ev, site, source);
      produceText(ev, site, text.length);
      const parts: string[] = [];
      let behind = 0;
      for (let from = 0; from <= text.length; ) {
        const found: Match | undefined = paid(ev, site, (budget) =>
          pattern.find(text, from, budget),
        );
        if (found === undefined) break;
        const [start, end] = found;
        produceText(ev, site, to.length);
        parts.push(text.slice(behind, start), to);
        behind = end;
        // Behind a match of nothing the search goes on one code point further.
        from = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
      }
      return parts.join("") + text.slice(behind);
    },
  }),
];

function checkPattern(literal: unknown, index: number): string | undefined {
  const pattern = index === 1 ? compilePattern(String(literal)) : undefined;
  return pattern === undefined || pattern.ok ? undefined : pattern.problem;
}

/** A pattern that other calls of the evaluation share, with what it remembers. */
function readyPattern(ev: Evaluation, site: CallSite, source: string): Ready {
  return kept(ev, `pattern ${source}`, () => {
    handleText(ev, site, source.length);
    const pattern = compilePattern(source);
    if (!pattern.ok) badArgument(site, `${site.name} refuses its pattern: ${pattern.problem}`);
    spend(ev, site, source.length * READING_STEPS);
    return pattern;
  });
}

/** Result of a search, within the remaining steps. */
function paid<T>(ev: Evaluation, site: CallSite, search: (budget: { left: number }) => T): T {
  const most = ev.steps * SEARCH_STEPS;
  const budget = { left: most };
  const result = search(budget);
  spend(ev, site, Math.ceil((most - budget.left) / SEARCH_STEPS));
  return result;
}
