import { parseFlow, printFlow } from "@millrace/dsl";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { decorate, reblank } from "../../dsl/test/laws/decorate.ts";
import { anyGraph } from "../../dsl/test/laws/generate.ts";
import { Random } from "../../dsl/test/laws/random.ts";
import { FLOWS } from "../../dsl/test/syntaxes/flows.ts";
import { parsedSpans } from "../../dsl/test/syntaxes/spans.ts";
import { scopeClasses, treeClasses } from "./classes.ts";
import { colouredBrackets, errorsIn, treeBrackets, treeSpans } from "./spans.ts";

/** Generated flows that the tree is held against the parser for, each in one of three spellings, and those that are compared piece by piece. */
const FLOW_COUNT = 10_000;
const COMPARED_EVERY = 50;
const SPELLINGS = [undefined, decorate, reblank];

/** Codes of families 0 and 1: the text could not be read as it stands. */
function syntaxErrors(text: string): string[] {
  const errors = parseFlow(text).diagnostics.filter(({ severity }) => severity === "error");
  return errors.map(({ code }) => code).filter((code) => /^FLOW[01]/.test(code));
}

function expectAgreement(text: string): void {
  expect(syntaxErrors(text)).toEqual([]);
  expect(errorsIn(text)).toEqual([]);
  expect(treeSpans(text)).toEqual(parsedSpans(text));
  expect(treeBrackets(text)).toEqual(colouredBrackets(text));
}

describe("the tree holds the strings, numbers, words, calls, comments and brackets of the parser", () => {
  test.each(FLOWS)("in $name", ({ text }) => {
    expectAgreement(text);
  });

  test("in generated flows, with comments and blanks anywhere", { timeout: 600_000 }, () => {
    for (let seed = 1; seed <= casesOf(FLOW_COUNT); seed += 1) {
      const canonical = printFlow(anyGraph(seed));
      const respell = SPELLINGS[seed % SPELLINGS.length];
      const text = respell ? respell(canonical, new Random(seed)) : canonical;
      if (seed % COMPARED_EVERY === 0) expectAgreement(text);
      else if (errorsIn(text).length > 0) expect([seed, errorsIn(text), text]).toEqual([seed, []]);
    }
  });
});

/** Texts whose every piece both grammars colour. */
const TABLE: readonly string[] = [
  'flow 1 hello {\n  title = "T"\n  @timeout = 10m\n}',
  'input n: int? = -1\ninput "a b": { x: string[], "y z": a.b? } {\n  description = "D"\n}',
  'connection pay: oauth {\n  scopes = ["a", "b"]\n}',
  "schedule m {\n  every = 15m # often\n}",
  "node a: ai.chat@2 {\n  @on-error = { default: null }\n  f = a?.b.c[0] ?? inputs.x - 1\n}",
  "node b: map {\n  body {\n    node c: t {}\n    output = c.value in [true, false]\n  }\n}",
  'a -> b.true -> "c d" { label: "x" }',
  "output o = size(filter(nodes.a, x, !x.done && x.n >= -2.5e3)) > 0 ? run.id : 7d",
  'x = "a ${b + "c ${d}"} \\n \\u00e9 \\${e}"',
  'x = """\n  text ${ {a: 1}.a } \\${no} \\\\${yes}\n  """',
  'layout {\n  a = [1, 2]\n  "p/q" = [0, -3]\n}',
  "node = 3\nflow = input.node\nbody -> node",
];

describe("the tree and the TextMate grammar give the same classes", () => {
  test.each(TABLE)("to %j", (text) => {
    expect(errorsIn(text)).toEqual([]);
    expect(treeClasses(text)).toEqual(scopeClasses(text));
  });

  test.each(FLOWS)("in $name", ({ text }) => {
    expect(treeClasses(text)).toEqual(scopeClasses(text));
  });
});
