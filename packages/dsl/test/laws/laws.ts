/**
 * The laws of the text form, each over one sample. L10 (linear time) is a ratio of times and therefore measured in `bench/`;
 * here a text that takes too long runs into the time limit of its test.
 */
import { isDeepStrictEqual } from "node:util";
import type { FlowGraph, Json } from "@millrace/contracts";
import { digest, formatFlow, impliedEdges, parseFlow, printFlow } from "@millrace/dsl";
import { keepsOrder, reblank } from "./decorate.ts";
import { editOne } from "./edit.ts";
import { breakOne, namesIn, someItems } from "./faults.ts";
import { commentsIn } from "./layout.ts";
import { checkRanges, checkTotal } from "./mutate.ts";
import type { Random } from "./random.ts";
import { checkReadings, checkStrict } from "./readings.ts";
import { checkReconcile } from "./reconciled.ts";
import { Broken, type Sample, syntaxOf } from "./sample.ts";

export interface Law {
  readonly id: string;
  readonly says: string;
  /** Throws when the law does not hold. */
  check(sample: Sample): void;
}

export const LAWS: readonly Law[] = [
  {
    id: "L1",
    says: "printing and parsing gives the normalized graph",
    check: ({ text, parsed, normal }) => {
      hold(syntaxOf(parsed.diagnostics).length === 0, "text of a graph has no syntax errors", text);
      equal(parsed.graph, normal, "parsing gives the normalized graph", text);
      hold(printFlow(parsed.document) === text, "a document prints as the text it is of", text);
    },
  },
  {
    id: "L11",
    says: "a graph that was JSON is the same graph",
    check: ({ graph, text }) => {
      const copy = JSON.parse(JSON.stringify(graph)) as FlowGraph;
      hold(printFlow(copy) === text, "a graph that was JSON prints alike", text);
    },
  },
  {
    id: "L2",
    says: "formatting formatted text changes nothing",
    check: ({ formatted, decorated, read }) => {
      hold(syntaxOf(read.diagnostics).length === 0, "comments do no harm", decorated);
      const again = formatFlow(formatted);
      hold(again.text === formatted && !again.changed, "formatting twice changes more", decorated);
    },
  },
  {
    id: "L3",
    says: "formatting keeps the graph",
    check: ({ again, read, decorated, text, digest: own }) => {
      equal(again.graph, read.graph, "formatting keeps the graph", decorated);
      const same = digest(read.graph) === own;
      hold(same, "comments and order do not change the graph", `${text}\n---\n${decorated}`);
    },
  },
  {
    id: "L4",
    says: "formatting keeps every comment, and their order in an item",
    check: ({ formatted, decorated }) => {
      const comments = commentsIn(formatted);
      const before = commentsIn(decorated);
      equal([...comments].sort(), before.sort(), "every comment is kept", decorated);
      hold(keepsOrder(comments), "comments of an item keep their order", decorated);
    },
  },
  {
    id: "L5",
    says: "indentation, numbers of empty lines and line ends do not reach the formatted text",
    check: (sample) => {
      const blanks = reblank(sample.decorated, sample.random(5));
      hold(formatFlow(blanks).text === sample.formatted, "blanks change nothing", blanks);
    },
  },
  {
    id: "L6",
    says: "the digest is the same for graphs that mean the same and another for any other; order of declaration means nothing",
    check: (sample) => {
      const r = sample.random(6);
      const { graph, normal, text, digest: own } = sample;
      const same = { ...shuffled(graph, r), layout: { moved: [1, 2] } };
      hold(digest(same) === own, "order and layout do not reach the digest", text);
      const other = editOne(normal, r);
      hold(digest(other.graph) !== own, `the digest sees an edit: ${other.what}`, text);
      equal(readsOf(same), readsOf(graph), "what is read does not depend on order", text);
    },
  },
  {
    id: "L7",
    says: "reconciling says the new graph and leaves what did not change as it was",
    check: checkReconcile,
  },
  {
    id: "L8",
    says: "ranges lie in the text between characters, in order; a fix adds no error",
    check: checkRanges,
  },
  {
    id: "L9",
    says: "each of several faults is found in its own item, and all other items are read",
    check: checkFaults,
  },
  {
    id: "readings",
    says: "reading for the graph alone, for the text and for the places finds the same",
    check: checkReadings,
  },
  {
    id: "strict",
    says: "what the strict reader reads, the tolerant reader reads alike",
    check: checkStrict,
  },
  {
    id: "total",
    says: "no text or bytes make it throw, hang or change a prototype; what was read prints",
    check: checkTotal,
  },
];

function hold(ok: boolean, says: string, shown: string): void {
  if (!ok) throw new Broken(`does not hold: ${says}`, shown);
}

function equal(one: unknown, other: unknown, says: string, shown: string): void {
  if (isDeepStrictEqual(one, other)) return;
  throw new Broken(`does not hold: ${says}`, `${shown}\n--- ${difference(one, other, "")}`);
}

/** The first place at which two values differ. */
function difference(one: unknown, other: unknown, path: string): string {
  if (!isBranch(one) || !isBranch(other)) {
    return `${path}: ${JSON.stringify(one)} is not ${JSON.stringify(other)}`;
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const name = [...names].find((key) => !isDeepStrictEqual(one[key], other[key])) ?? "";
  return difference(one[name], other[name], `${path}/${name}`);
}

function isBranch(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null;
}

function readsOf(graph: FlowGraph): string[] {
  return impliedEdges(graph)
    .map(({ from, to }) => `${JSON.stringify(from)} ${JSON.stringify(to)}`)
    .sort();
}

const ITEMS = someItems(18);

function checkFaults(sample: Sample): void {
  const r = sample.random(9);
  const places = r.shuffle([...ITEMS.keys()]).slice(0, 1 + r.below(8));
  const texts = ITEMS.map(({ item }, at) => (places.includes(at) ? breakOne(item, r) : item));
  const head = "flow 1 faults\n\n";
  const source = `${head}${texts.join("\n\n")}\n`;
  const { graph, diagnostics } = parseFlow(source);
  const names = namesIn(graph);
  let start = head.length;
  for (const [at, text] of texts.entries()) {
    const end = start + text.length + 1; // the end of the file counts to the last item
    const found = diagnostics.some(({ range }) => {
      const offset = range?.start.offset ?? -1;
      return offset >= start && offset <= end;
    });
    const isBroken = places.includes(at);
    hold(found === isBroken, `item ${at} ${isBroken ? "is" : "is not"} at fault`, source);
    const name = ITEMS[at]?.name ?? "";
    hold(isBroken || names.includes(name), `item ${name} is read`, source);
    start = end + 1;
  }
}

const SETS: readonly string[] = ["nodes", "edges", "inputs", "outputs", "connections", "schedules"];

/** Members that hold data: it may bear the names of sets, so inside of it only keys change places. */
const DATA: readonly string[] = [
  ...["data", "fields", "policy", "meta", "default", "schema", "value", "output"],
];

/** A graph that means the same: its sets and the keys of its objects in another order; lists stay. */
function shuffled(graph: FlowGraph, r: Random): FlowGraph {
  return shuffle(graph, r, "") as unknown as FlowGraph;
}

function shuffle(value: unknown, r: Random, key: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => shuffle(item, r, key === "data" ? "data" : ""));
    return SETS.includes(key) ? r.shuffle(items) : items;
  }
  if (typeof value !== "object" || value === null) return value as Json;
  // The `inputs` of a schedule are no list, but data too.
  const isData = DATA.includes(key) || key === "inputs";
  return Object.fromEntries(
    r
      .shuffle(Object.entries(value))
      .map(([name, member]) => [
        name,
        shuffle(member, r, isData || DATA.includes(name) ? "data" : name),
      ]),
  );
}
