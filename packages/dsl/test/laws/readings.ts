/**
 * The readings of a text agree: `parseFlow` takes canonical items straight into the graph, while formatting, printing a document
 * and `locate` read a tree of everything, and so does `parseFlow` where a text holds a control character.
 */
import { isDeepStrictEqual } from "node:util";
import {
  formatFlow,
  locate,
  normalizeGraph,
  type ParseOptions,
  parseFlow,
  printFlow,
  reconcile,
} from "@millrace/dsl";
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

const OPERANDS: readonly string[] = [
  ..."a a.b a?.b a[0] f(a) f() x-1 not in true null None undefined 0 -1 -0 1.5 1.50 90s 60s -5s [] [1] {}".split(
    " ",
  ),
  ..."not(a) None.a true.a in.a a.in (a) -a --a !a !(a) -(1) 1.a (1).a [1].a {}.a a.b(c) a[0:1] nodes".split(
    " ",
  ),
  ...[
    "{ a: 1 }",
    "{ a: 1, a: 2 }",
    "{a: 1}",
    '{ "a": 1 }',
    '{ "a b": 1 }',
    "not a",
    "[1,2]",
    "f(a, )",
  ],
  ...[
    '"x"',
    '""',
    '"é"',
    '"\u202e"',
    '"\\n"',
    '"\\/"',
    '"\\u0041"',
    '"\\${a}"',
    '"$${a}"',
    '"${{}}"',
  ],
  ...[
    '"a${b}c"',
    '"${ a }"',
    '"\\$"',
    '"""',
    '"\\\\"',
    "'x'",
    '"a"."b"',
    'a."b"',
    'a."b c"',
    'a["b"]',
  ],
];

const OPERATORS: readonly string[] =
  " + | - | * | / | % | == | != | < | <= | > | >= | && | || | ?? | in | ? a : | and |+|-|  + | = | -> | \u0080".split(
    "|",
  );

/** An expression, canonical more often than not. */
function expressionish(r: Random, depth: number): string {
  if (depth === 0 || r.chance(0.2)) return r.pick(OPERANDS);
  const inner = (): string => expressionish(r, depth - 1);
  const form = r.below(10);
  if (form === 0) return `f(${inner()}, ${inner()})`;
  if (form === 1) return `${r.pick(["!", "-"])}${inner()}`;
  if (form === 2) return `[${inner()}, ${inner()}]`;
  if (form === 3) return `{ a: ${inner()}, b: ${inner()} }`;
  if (form === 4) return `"${r.pick(["", "a", "\\n"])}\${${inner()}}"`;
  if (form === 5) return `(${inner()})${r.pick(["", ".a", "[0]"])}`;
  if (form === 6) return `${inner()} ? ${inner()} : ${inner()}`;
  return inner() + r.pick(OPERATORS) + inner();
}

const LINES: readonly string[] = [
  ...["a", "", "  a", "\ta", " ", '"', '"""', '""""', "${a}", "a${a}b", "${ a }", "${a +\nb}"],
  ...["\\${a}", "\\\\${a}", "$${a}", "\\", "a\r", "#", "\u0085", '${f(\n    """\n    """)}'],
];

/** A block string, mostly well-formed. */
function blockish(r: Random): string {
  const fence = r.pick(['"""', '"""', '"""', '""""']);
  const indent = r.pick(["    ", "    ", "", "\t", "  "]);
  const lines = r.list(4, () => (r.chance(0.9) ? indent : r.pick(["", " ", "\t"])) + r.pick(LINES));
  return [fence, ...lines, indent + (r.chance(0.9) ? fence : '"""')].join("\n");
}

const NEAR_ITEMS: readonly string[] = [
  "node § : t",
  "node §: t.u@2 # c",
  "node §: t@0",
  "node §: t[]",
  'node "§": t {}',
  "node §: t { a = 1 }",
  "node §: t { a = 1; b = 2 }",
  "node §: t { a = 1 b = 2 }",
  "node §: t { a == 1 }",
  "node §: t = 1",
  "node a: t",
  "node §: t {\n  @retry = { max: 3, delay: 1s, delay: 2s }\n}",
  "node §: t {\n  @retry = 3\n  @timeout = 5\n}",
  "node §: t {\n  @on-error = { default: a + 1 }\n  @concurrency = { max: 2 }\n}",
  "node §: t {\n  @timeout = 1.5s\n  @timeout = 0s\n}",
  "node §: t {\n  body {\n    a -> b\n    a -> b\n  }\n}",
  "node §: t {\n  body {\n    node x: y\n    output = x.z\n  }\n  body {\n  }\n}",
  "node §: t {\n  node x: y\n}",
  'node §: t {\n  "body" {\n  }\n}',
  "node §: t {\n  body = 1\n  __proto__ = 1\n  constructor = 2\n}",
  "input §: string? = null",
  "input §: any?",
  "input §: { a: int }[]",
  'input §: int[]?[] = [[1]] {\n  description = "d"\n}',
  'input § {\n  schema = { type: "string" }\n}',
  "input § = a",
  "output §: strin = 1",
  "output § = a {\n  description = 1\n}",
  'connection §: oauth@2 {\n  slug = "§"\n  scopes = ["a"]\n}',
  "connection §",
  "schedule § {\n  every = 1h\n  inputs = { a: b }\n}",
  'schedule § {\n  cron = "0 7 * * 1"\n  enabled = true\n  inputs = { a: [1] }\n}',
  "schedule §: t",
  "layout {\n  § = [1, 2]\n  a = b\n}",
  "layout",
  "layout {\n}",
  'layout {\n  "a/b" = [1, 2]\n}',
  "layout a {\n}",
  "a -> b",
  "a.out -> b { l: 1 }",
  "a -> b -> c",
  "a -> b.c",
  "a->b",
  'a."p q" -> "b c" {}',
  "a . b -> c",
  "a -> b { $: 1 }",
  "flow 1 x",
  "body {\n}",
  "§ = 1",
  "}",
  "node §: t }",
  "node §: t {\n  a = {\n    b: 1 c: 2\n  }\n}",
  "node §: t {\n  a = {\n    b: 1, # c\n\n    c: [\n      1,\n      2\n      # d\n    ]\n  }\n}",
  "node §: t {\n  a = { $: 1 }\n  b = [1, 2,]\n  c = [,1]\n}",
  "node §: t {\n  a = [1\n    , 2]\n}",
];

/** An item that the strict reader knows, or nearly does. */
function nearItem(r: Random, name: string): string {
  if (r.chance(0.3)) return r.pick(NEAR_ITEMS).replaceAll("§", name);
  const value = r.chance(0.75) ? expressionish(r, 3) : blockish(r);
  return `node ${name}: t {\n  value = ${value}\n}`;
}

const BLANKS: readonly string[] = [
  "",
  " ",
  "  ",
  "\n",
  "\n\n",
  ",",
  ", ",
  ",\n",
  " # c",
  "#c\n",
  "# c \n",
  "\t",
];

/** Some blanks, line ends and commas exchanged, each of which may be how the text is printed as well. */
function respace(text: string, r: Random): string {
  return text.replace(/,?\n+ *|,? +/g, (found) => (r.chance(0.97) ? found : r.pick(BLANKS)));
}

const STRICT_SHAPES: typeof SHAPES = [
  ...SHAPES,
  (text, r) => respace(text, r),
  (text, r) => formatFlow(nearItems(text, r)).text,
  (text, r) => respace(formatFlow(nearItems(text, r)).text, r),
  (text, r) => nearItems(text, r),
  (text, r) => nearItems(text, r),
  (text, r) => garble(nearItems(text, r), r),
];

function nearItems(text: string, r: Random): string {
  const items = Array.from({ length: 1 + r.below(12) }, (_, n) => nearItem(r, `z${n}`));
  return `${text}\n${items.join("\n\n")}\n`;
}

/** A comment that leaves a text to the tolerant reader. */
const TOLERANT = "#\u0001\n";

/** What the strict reader reads, the tolerant reader reads alike: same graph, same order of its members, same findings. */
export function checkStrict(sample: Sample): void {
  const r = sample.random(12);
  const base = r.pick([sample.text, sample.decorated]);
  const text = r.pick(STRICT_SHAPES)(base, r);
  checkStrictText(text, r.chance(0.1) ? { maxDepth: r.below(6) } : {});
}

function checkStrictText(text: string, limits: ParseOptions): void {
  if (!/^(?:flow|#)/.test(text)) return; // before anything else a comment may change what a text is taken for
  const strict = parseFlow(text, limits);
  const tolerant = parseFlow(TOLERANT + text, limits);
  const broken = (says: string): Broken =>
    new Broken(says, text, (smaller) => checkStrictText(smaller, limits));
  if (JSON.stringify(strict.graph) !== JSON.stringify(tolerant.graph)) {
    throw broken("the strict reader reads another graph");
  }
  if (JSON.stringify(strict.diagnostics) !== JSON.stringify(tolerant.diagnostics, moved)) {
    throw broken("the strict reader hides or causes a finding");
  }
  const kept = formatFlow(text, limits).text;
  if (kept !== formatFlow(TOLERANT + text, limits).text.replace(TOLERANT, "")) {
    throw broken("formatting keeps a text that is not as it is printed");
  }
}

/** Moves places to where they are without the comment in front. */
function moved(key: string, value: unknown): unknown {
  if (key === "offset") return (value as number) - TOLERANT.length;
  return key === "line" ? (value as number) - 1 : value;
}
