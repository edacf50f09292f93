/**
 * The readings of a text agree: `parseFlow` takes plain values straight into the graph, while formatting, printing a document and
 * `locate` read a tree of everything.
 */
import { isDeepStrictEqual } from "node:util";
import { formatFlow, locate, normalizeGraph, parseFlow, printFlow, reconcile } from "@millrace/dsl";
import { reblank } from "./decorate.ts";
import { editOne } from "./edit.ts";
import { garble } from "./mutate.ts";
import type { Random } from "./random.ts";
import { Broken, type Sample } from "./sample.ts";

/** Ways in which a text may differ from a canonical one; the last ones leave it broken. */
const SHAPES: readonly ((text: string, r: Random) => string)[] = [
  (text) => text,
  (text) => text.replaceAll("\n", "\r\n"),
  (text, r) => reblank(text, r),
  (text, r) => swapPlain(text, r),
  (text, r) => garble(text, r),
  (text, r) => garble(swapPlain(text, r), r),
];

const SCALARS: readonly string[] = [
  ..."0 -0 -1 1.50 1e3 01 1. .5 1e400 9007199254740993 12345678901234567890 5s -5s 10 s a a.b a-b n-1".split(
    " ",
  ),
  ..."a?.b a[0] f(a) true false null True None None.a true.a in not not.a a.in -a !a (a) a,".split(
    " ",
  ),
  '"x"',
  '"x\ty"',
  '"x\\n"',
  '"x${a}"',
  '""',
  '"""',
  "'x'",
  '"x" "y"',
  "a b",
  "",
];

const KEYS: readonly string[] = [
  ..."a b __proto__ constructor $ 1".split(" "),
  ...['"a"', '"$"', '"$t"', '"$lit"', '""', '"a\\n"', "a.b", "'a'"],
];

const SEPARATORS: readonly string[] = [
  ", ",
  ",",
  "\n",
  ",\n",
  " ,\n",
  "\n,",
  ",,",
  " ",
  " # c\n",
  ";",
];

/** A value made of what is read straight, with some of what is not. */
function plainish(r: Random, depth: number): string {
  if (depth === 0 || r.chance(0.5)) return r.pick(SCALARS);
  const isList = r.chance(0.5);
  let text = isList ? "[" : "{";
  for (let count = r.below(4); count > 0; count -= 1) {
    text += isList ? "" : `${r.pick(KEYS)}${r.chance(0.9) ? ": " : r.pick([":", " = ", " "])}`;
    text += plainish(r, depth - 1) + (r.chance(0.7) ? ", " : r.pick(SEPARATORS));
  }
  return text + (r.chance(0.97) ? (isList ? "]" : "}") : "");
}

/** Some values of attributes exchanged for others. */
function swapPlain(text: string, r: Random): string {
  return text.replace(/(?<= = )[^{[("\n]+$|(?<= = )".*"$/gm, (found) =>
    r.chance(0.6) ? found : plainish(r, 3),
  );
}

/** Every reading of a text gives the same findings and the same graph, and so does the text that each writes. */
export function checkReadings(sample: Sample): void {
  const r = sample.random(11);
  const text = r.pick(SHAPES)(sample.decorated, r);
  const limits = r.chance(0.2) ? { maxDepth: r.below(6), maxErrors: 1 + r.below(4) } : {};
  const { document, graph, diagnostics } = parseFlow(text, limits);
  const broken = (says: string): Broken => new Broken(says, text);
  if (!isDeepStrictEqual(formatFlow(text, limits).diagnostics, diagnostics)) {
    throw broken(`formatting finds something else than parsing (${JSON.stringify(limits)})`);
  }
  if (sample.isLarge || "maxErrors" in limits) return;
  const printed = printFlow(document);
  if (!isDeepStrictEqual(parseFlow(printed).graph, graph)) {
    throw broken("the text of the document has another graph");
  }
  const same = printFlow(reconcile(document, graph));
  if (same !== printed && !isDeepStrictEqual(parseFlow(same).graph, graph)) {
    throw broken("reconciling with its own graph gives another");
  }
  if (r.chance(0.25)) checkEdit();
  for (const [index, { id, fields }] of graph.nodes.entries()) {
    if (written(`/nodes/${index}/id`) === undefined) throw broken(`no place for ${id}`);
    for (const [name, value] of Object.entries(fields)) {
      const key = name.replaceAll("~", "~0").replaceAll("/", "~1");
      const source = written(`/nodes/${index}/fields/${key}`);
      if (source === undefined) throw broken(`no place for ${name} of ${id}`);
      if (typeof value === "boolean" && value !== (source.toLowerCase() === "true")) {
        throw broken(`${name} of ${id} is ${value}, and written ${source}`);
      }
    }
  }

  function checkEdit(): void {
    const edited = editOne(graph, r);
    const now = parseFlow(printFlow(reconcile(document, edited.graph))).graph;
    if (isDeepStrictEqual(now, normalizeGraph(edited.graph))) return;
    throw broken(`reconciling does not say the edit: ${edited.what}`);
  }

  function written(pointer: string): string | undefined {
    const range = locate(document, pointer);
    return range && text.slice(range.start.offset, range.end.offset);
  }
}
