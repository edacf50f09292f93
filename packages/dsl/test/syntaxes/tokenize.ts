/** The grammar in the engine that editors run it in: vscode-textmate over Oniguruma. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate, { type IGrammar } from "vscode-textmate";

/** A piece of the text with the scopes that the grammar gives it, outermost first, without `source` and `.flow`. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly scopes: readonly string[];
}

export interface Tokens {
  readonly tokens: readonly Token[];
  /** How many rules are still open behind the last line, that of the file itself not counted. */
  readonly open: number;
}

/** Tens of times what a line of 100 kB takes on a busy machine; only patterns that are not linear need so long. */
const LINE_LIMIT_MS = 20_000;

const file = createRequire(import.meta.url).resolve("@millrace/dsl/syntaxes/flow.tmLanguage.json");

/** The text of the grammar, as it is shipped. */
export const GRAMMAR_TEXT: string = readFileSync(file, "utf8");

const grammar = await loadGrammar();

async function loadGrammar(): Promise<IGrammar> {
  const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(readFileSync(wasm));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(GRAMMAR_TEXT, "flow.tmLanguage.json"),
  });
  const loaded = await registry.loadGrammar("source.flow");
  if (!loaded) throw new Error("the grammar has no scope source.flow");
  return loaded;
}

/** Every token of a text, with its place in the text; line ends belong to none. */
export function tokenize(source: string): Tokens {
  const tokens: Token[] = [];
  let stack = textmate.INITIAL;
  let from = 0;
  for (const line of source.split("\n")) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    const read = grammar.tokenizeLine(text, stack);
    for (const { startIndex, endIndex, scopes } of read.tokens) {
      const end = Math.min(endIndex, text.length);
      if (end === startIndex) continue;
      tokens.push({
        start: from + startIndex,
        end: from + end,
        text: text.slice(startIndex, end),
        scopes: scopes.slice(1).map((scope) => scope.replace(/\.flow$/, "")),
      });
    }
    stack = read.ruleStack;
    from += line.length + 1;
  }
  return { tokens, open: stack.depth - 1 };
}

/** Whether the engine reads every line of a text to its end within its limit of time. */
export function isColouredWhole(source: string): boolean {
  let stack = textmate.INITIAL;
  return source.split("\n").every((line) => {
    const read = grammar.tokenizeLine2(line, stack, LINE_LIMIT_MS);
    stack = read.ruleStack;
    return !read.stoppedEarly;
  });
}

/** `text scope` for each token that is not blank: its innermost scope. */
export function scopesOf(source: string): string[] {
  return tokenize(source)
    .tokens.filter(({ text }) => text.trim() !== "")
    .map(({ text, scopes }) => `${text.trim()} ${scopes.at(-1) ?? "-"}`);
}
