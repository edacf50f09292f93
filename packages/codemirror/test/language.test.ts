import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { toggleComment } from "@codemirror/commands";
import { ensureSyntaxTree, foldable, getIndentation, matchBrackets } from "@codemirror/language";
import { EditorState, type TransactionSpec } from "@codemirror/state";
import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";
import * as codemirror from "../src/index.ts";
import { flow } from "../src/index.ts";
import { errorsIn } from "./spans.ts";

/** Far more than a short text takes on a busy machine. */
const PARSE_MS = 60_000;

/** A state of an editor over a text, with the cursor at its `¦`. */
function stateOf(marked: string): EditorState {
  const at = marked.indexOf("¦");
  const doc = marked.replace("¦", "");
  const selection = { anchor: Math.max(at, 0) };
  const state = EditorState.create({ doc, selection, extensions: [flow()] });
  // A new state is parsed for some milliseconds only; the tree of all of it is in the next one.
  ensureSyntaxTree(state, doc.length, PARSE_MS);
  return state.update({}).state;
}

/** The indent that a new line at the cursor gets. */
function indentAt(marked: string): number | null {
  const state = stateOf(marked);
  return getIndentation(state, state.selection.main.head);
}

test.each([
  ["node a: t {\n¦", 2],
  ["node a: t {\n  x = 1\n¦}", 0],
  ["node a: t {\n  x = [\n¦", 4],
  ["node a: t {\n  x = {\n    a: 1,\n¦  }\n}", 2],
  ["node a: t {\n  x = size(\n¦", 4],
  ["node a: t {\n}\n¦", 0],
])("a line of %j is indented by %i", (marked, indent) => {
  expect(indentAt(marked)).toBe(indent);
});

test("a line of a block string keeps the indent that it has", () => {
  expect(indentAt('x = """\n     a\n¦\n   """')).toBeNull();
});

test.each([
  ["¦node a: t {\n  x = 1\n}\n", "{¦\n  x = 1\n¦}"],
  ["¦x = [\n  1,\n]\n", "[¦\n  1,\n¦]"],
  ['¦x = """\n  a\n  """\n', '"""¦\n  a\n  """¦'],
])("%j folds", (marked, folded) => {
  const state = stateOf(marked);
  const { from, to } = state.doc.lineAt(0);
  const range = foldable(state, from, to);
  const inside = folded.split("¦")[1];
  expect(range && state.sliceDoc(range.from, range.to)).toBe(inside);
});

test("brackets match across the strings and holes between them", () => {
  const text = 'x = f("a) ${g(1)} (", [2])';
  expect(matchBrackets(stateOf(text), 5, 1)).toMatchObject({
    end: { from: text.length - 1 },
    matched: true,
  });
});

test("a comment is put before a line, and taken away again", () => {
  let state = stateOf("node a: t {\n  ¦x = 1\n}");
  const dispatch = (change: TransactionSpec) => {
    state = state.update(change).state;
  };
  toggleComment({ state, dispatch });
  expect(state.doc.toString()).toBe("node a: t {\n  # x = 1\n}");
  toggleComment({ state, dispatch });
  expect(state.doc.toString()).toBe("node a: t {\n  x = 1\n}");
});

test("a string that is not closed ends with its line, and the next item is read", () => {
  const text = 'x = "open\nnode a: t {}\n';
  expect(errorsIn(text)).toEqual([]);
  expect(stateOf(text).doc.lines).toBe(3);
});

test("a text of brackets and quotes without ends has a tree", () => {
  for (const part of ['"', '"""\n', "${", '"${', "[", "(", "{", "- ", "\\", "a:", "->", '"""\n${'])
    expect(codemirror.flowLanguage.parser.parse(part.repeat(2000)).length).toBe(part.length * 2000);
});

test("the parser is what the grammar gives", () => {
  const script = new URL("../scripts/parser.mjs", import.meta.url);
  execFileSync(process.execPath, [script.pathname, "--check"]);
});

test.each([
  ["flow", 5_800],
  ["flow, flowAnalysis, analysisSource", 12_000],
])("an editor that imports %s pays at most %i bytes, compressed", async (names, bytes) => {
  const code = `export { ${names} } from "@millrace/codemirror";`;
  const peers = ["@codemirror/*", "@lezer/*"];
  expect(await gzipBytes(code, import.meta.url, peers)).toBeLessThanOrEqual(bytes);
});

test("the program of the README shows what its comments say", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const program = /```js peers\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const printed: string[] = [];
  const body = program.replaceAll(/^import .*\n/gm, "");
  new Function("flow", "flowLanguage", "EditorState", "foldable", "console", body)(
    flow,
    codemirror.flowLanguage,
    EditorState,
    foldable,
    { log: (...values: unknown[]) => printed.push(values.join(" ")) },
  );
  expect(printed).toEqual([...program.matchAll(/\/\/ (.*)$/gm)].map(([, text]) => text));
  expect(printed).toHaveLength(2);
});
