/** The laws of the text form, over generated graphs and texts. `MILLRACE_LAW_RUNS` multiplies the number of seeds. */
import { type Diagnostic, type FlowGraph, type Json, MAX_JSON_DEPTH } from "@millrace/contracts";
import { digest, formatFlow, normalizeGraph, parseFlow, printFlow, reconcile } from "@millrace/dsl";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commentsIn, decorate, reblank } from "./decorate.ts";
import { breakOne, namesIn, someItems } from "./faults.ts";
import { anyGraph, NASTY, Random } from "./generate.ts";

const SCALE = Number(process.env["MILLRACE_LAW_RUNS"] ?? 1);
const TIMEOUT_MS = 60_000 * Math.max(1, SCALE);

/** Checks a law for many seeds. */
function forSeeds(runs: number, law: (seed: number) => void): void {
  void fc.assert(fc.property(fc.nat(2 ** 31 - 1), law), { numRuns: Math.ceil(runs * SCALE) });
}

function syntaxOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => /^FLOW[01]/.test(code));
}

function decorated(seed: number): { text: string; graph: FlowGraph; r: Random } {
  const r = new Random(seed);
  const graph = anyGraph(seed);
  return { text: decorate(printFlow(graph), r), graph, r };
}

describe("graphs", () => {
  test(
    "L1, L11: printing and parsing gives the normalized graph, also of a graph that was JSON",
    () => {
      forSeeds(1000, (seed) => {
        const graph = anyGraph(seed);
        const text = printFlow(graph);
        const read = parseFlow(text);
        expect(syntaxOf(read.diagnostics)).toEqual([]);
        expect(read.graph).toEqual(normalizeGraph(graph));
        expect(printFlow(read.document)).toBe(text);
        const copy = JSON.parse(JSON.stringify(graph)) as FlowGraph;
        expect(normalizeGraph(copy)).toEqual(read.graph);
        expect(normalizeGraph(read.graph)).toEqual(read.graph);
      });
    },
    TIMEOUT_MS,
  );

  test(
    "L6: the digest sees what a graph means, not how it is written down",
    () => {
      forSeeds(300, (seed) => {
        const r = new Random(seed);
        const graph = anyGraph(seed);
        const same = shuffled({ ...graph, layout: { moved: [1, 2] } }, r) as unknown as FlowGraph;
        expect(digest(same)).toBe(digest(graph));
        expect(digest(parseFlow(printFlow(graph)).graph)).toBe(digest(graph));
        const other = { ...graph, outputs: [...graph.outputs, { name: "one more", value: 1 }] };
        expect(digest(other)).not.toBe(digest(graph));
        const renamed = { ...graph, id: `${graph.id}!` };
        expect(digest(renamed)).not.toBe(digest(graph));
      });
    },
    TIMEOUT_MS,
  );
});

const SETS: readonly string[] = ["nodes", "edges", "inputs", "outputs", "connections", "schedules"];

const DATA: readonly string[] = [
  ...["data", "fields", "policy", "meta", "default", "schema", "value", "output", "inputs"],
];

/** The graph with its sets and the keys of its objects in another order; lists stay. */
function shuffled(value: unknown, r: Random, key = ""): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => shuffled(item, r, DATA.includes(key) ? "data" : ""));
    return SETS.includes(key) ? r.shuffle(items) : items;
  }
  if (typeof value !== "object" || value === null) return value as Json;
  // Data may bear the names of sets, so inside of it only keys change places; `inputs` of a schedule are data too.
  const isData = DATA.includes(key);
  return Object.fromEntries(
    r
      .shuffle(Object.entries(value))
      .map(([name, member]) => [name, shuffled(member, r, isData ? "data" : name)]),
  );
}

describe("texts", () => {
  test(
    "L2, L3, L4: formatting is done at once, keeps the graph, and keeps every comment",
    () => {
      forSeeds(300, (seed) => {
        const { text, graph } = decorated(seed);
        const read = parseFlow(text);
        expect(syntaxOf(read.diagnostics)).toEqual([]);
        expect(read.graph).toEqual(normalizeGraph(graph));
        const formatted = formatFlow(text).text;
        expect(formatFlow(formatted)).toMatchObject({ text: formatted, changed: false });
        expect(parseFlow(formatted).graph).toEqual(read.graph);
        expect(commentsIn(formatted).sort()).toEqual(commentsIn(text).sort());
      });
    },
    TIMEOUT_MS,
  );

  test(
    "L5: indentation, numbers of empty lines and line ends do not reach the formatted text",
    () => {
      forSeeds(250, (seed) => {
        const { text, r } = decorated(seed);
        expect(formatFlow(reblank(text, r)).text).toBe(formatFlow(text).text);
      });
    },
    TIMEOUT_MS,
  );

  test(
    "L7: reconciling with the same graph changes nothing, with another graph says that graph",
    () => {
      forSeeds(200, (seed) => {
        const { text } = decorated(seed);
        const { document, graph } = parseFlow(text);
        expect(printFlow(reconcile(document, graph))).toBe(printFlow(document));
        const other = anyGraph(seed + 1);
        const merged = parseFlow(printFlow(reconcile(document, other)));
        expect(merged.graph).toEqual(normalizeGraph(other));
      });
    },
    TIMEOUT_MS,
  );

  test(
    "L8: every range of a garbled text lies in it, between characters, in order",
    () => {
      forSeeds(400, (seed) => {
        const { text: whole, r } = decorated(seed);
        const text = garble(whole, r);
        let last = 0;
        for (const diagnostic of parseFlow(text).diagnostics) {
          for (const { offset } of placesOf(diagnostic)) {
            expect(offset).toBeGreaterThanOrEqual(0);
            expect(offset).toBeLessThanOrEqual(text.length);
            expect(
              /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(offset - 1, offset + 1)),
            ).toBe(false);
          }
          const at = diagnostic.range?.start.offset ?? 0;
          expect(at).toBeGreaterThanOrEqual(last);
          last = at;
        }
      });
    },
    TIMEOUT_MS,
  );

  test(
    "L9: each of several faults is found in its own item, and all other items are read",
    () => {
      forSeeds(600, (seed) => {
        const r = new Random(seed);
        const items = someItems(18);
        const places = r.shuffle([...items.keys()]).slice(0, 1 + r.below(8));
        const texts = items.map(({ item }, at) => (places.includes(at) ? breakOne(item, r) : item));
        const head = "flow 1 faults\n\n";
        const { graph, diagnostics } = parseFlow(`${head}${texts.join("\n\n")}\n`);
        const names = namesIn(graph);
        let start = head.length;
        for (const [at, text] of texts.entries()) {
          const end = start + text.length + 1; // the end of the file counts to the last item
          const found = diagnostics.some(({ range }) => {
            const offset = range?.start.offset ?? -1;
            return offset >= start && offset <= end;
          });
          expect(found, `${text}\n(item ${at} of seed ${seed})`).toBe(places.includes(at));
          if (!places.includes(at)) expect(names).toContain(items[at]?.name);
          start = end + 1;
        }
      });
    },
    TIMEOUT_MS,
  );
});

/** One to three characters or words taken out or put in anywhere. */
function garble(text: string, r: Random): string {
  const pool = [...NASTY, ..."\"'{}[]()=:,;.@#$-!<>?|&*/%\\\n\r\t §→"];
  let garbled = text;
  for (let count = r.below(3); count >= 0; count -= 1) {
    const at = r.below(garbled.length + 1);
    const gone = r.chance(0.5) ? r.below(3) : 0;
    garbled = garbled.slice(0, at) + (r.chance(0.7) ? r.pick(pool) : "") + garbled.slice(at + gone);
  }
  return garbled;
}

function placesOf(diagnostic: Diagnostic): { offset: number }[] {
  const ranges = [
    ...(diagnostic.range ? [diagnostic.range] : []),
    ...(diagnostic.related ?? []).map(({ range }) => range),
    ...(diagnostic.fixes ?? []).flatMap(({ edits }) => edits.map(({ range }) => range)),
  ];
  return ranges.flatMap(({ start, end }) => [start, end]);
}

test("the depth limit of a text is the one of the platform", () => {
  const nested = (depth: number): string =>
    `flow 1 deep\n\nnode a: t {\n  v = ${"[".repeat(depth)}${"]".repeat(depth)}\n}\n`;
  expect(parseFlow(nested(MAX_JSON_DEPTH)).ok).toBe(true);
  expect(parseFlow(nested(MAX_JSON_DEPTH + 1)).ok).toBe(false);
});
