/** What the tree of a text holds, in the form in which the tests of the TextMate grammar compare. */
import { listFunctions } from "@millrace/dsl";
import type { Spans } from "../../dsl/test/syntaxes/spans.ts";
import { tokenize } from "../../dsl/test/syntaxes/tokenize.ts";
import { flowLanguage } from "../src/index.ts";

const FUNCTIONS = new Set(listFunctions().map(({ name }) => name));

/** Nodes of names: a string in them is a name and no value. */
const NAMES = /^(?:Field|Policy|Node|Port|Property|Type)Name$|^(?:Type)?Key$|^Label$/;

/** Offsets of the error nodes of a text. */
export function errorsIn(text: string): number[] {
  const errors: number[] = [];
  flowLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError) errors.push(from);
    },
  });
  return errors;
}

/** The strings, numbers, words, calls and comments of the tree. */
export function treeSpans(text: string): Spans {
  const spans: { readonly [kind in keyof Spans]: string[] } = {
    strings: [],
    numbers: [],
    words: [],
    calls: [],
    comments: [],
  };
  flowLanguage.parser.parse(text).iterate({
    enter: ({ name, from, to, node }) => {
      const part = text.slice(from, to);
      const span = `${from} ${part}`;
      const isValue = !NAMES.test(node.parent?.name ?? "");
      if ((name === "String" && isValue) || name === "BlockString") spans.strings.push(span);
      else if (name === "Number" || name === "Duration") spans.numbers.push(span);
      else if (name === "Boolean" || name === "Null") spans.words.push(span);
      else if (name === "FunctionName" && FUNCTIONS.has(part)) spans.calls.push(span);
      else if (name === "LineComment") spans.comments.push(part.slice(1).trimEnd());
    },
  });
  for (const list of Object.values(spans)) list.sort();
  return spans;
}

/** Offsets of the brackets of the tree, those of holes left out. */
export function treeBrackets(text: string): number[] {
  const found: number[] = [];
  flowLanguage.parser.parse(text).iterate({
    enter: ({ name, from, node }) => {
      if (/^[()[\]{}]$/.test(name) && node.parent?.name !== "HoleClose") found.push(from);
    },
  });
  return found;
}

/** Offsets of the brackets that the TextMate grammar sees. */
export function colouredBrackets(text: string): number[] {
  return tokenize(text).tokens.flatMap(({ start, text: part, scopes }) => {
    const scope = scopes.at(-1) ?? "";
    const isBracket = scope.startsWith("punctuation.section") && !scope.includes("embedded");
    return isBracket ? Array.from(part.trimEnd(), (_, at) => start + at) : [];
  });
}
