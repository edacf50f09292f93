/**
 * Every public function costs as much as its input is long: six times the items cost about six times the work, whatever
 * is repeated. The work is counted, so a busy machine changes nothing. Other sizes: MILLRACE_GROWTH_ITEMS=2000.
 */

import { canonicalJson, sha256Hex } from "@millrace/contracts/kit";
import type * as dsl from "@millrace/dsl";
import type * as dslEditor from "@millrace/dsl/editor";
import { notFull } from "@millrace/test-support";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { catalogOf } from "../fixtures/catalog.ts";
import { REPEATED, REPEATED_IN_EXPRESSIONS } from "./repeated.ts";
import { countWork, type Work } from "./work.ts";

const FEW = Number(process.env["MILLRACE_GROWTH_ITEMS"] ?? 70);
const MANY = 6 * FEW;
/** Above six, because lists that are capped (suggestions, errors) are not full yet with few items; what is quadratic has 30 and more. */
const MOST = 12;
/** How often what grows too fast is counted. */
const TIMES = 2;

/** Flows that call each other in a chain, without end. */
const catalog = catalogOf([], {
  flow: (slug) => ({ inputs: [], outputs: [], flows: [`f${Number(slug.slice(1)) + 1}`] }),
});

let work: Work;
let stop: () => Promise<void>;
let api: typeof dsl;
let editor: typeof dslEditor;

beforeAll(async () => {
  ({ work, stop } = await countWork());
  vi.resetModules();
  api = await import(sourceOf("index.ts"));
  editor = await import(sourceOf("editor/index.ts"));
});
afterAll(async () => {
  await stop();
  vi.resetModules(); // code that counts is slow; the files after this one import it anew
});

test("work that is not linear is seen, in the package and in built-in functions", async () => {
  const found = await growths((count) => ({
    lookups: () => {
      const list = Array.from({ length: count }, (_, i) => i);
      for (const one of list) list.indexOf(one);
    },
    calls: () => {
      for (let i = 0; i < count; i += 10) api.formatFlow(REPEATED["nodes"]?.(count / 50) ?? "");
    },
  }));
  expect(Object.keys(found)).toEqual(["lookups", "calls"]);
});

test.each(someOf(REPEATED))("%s", async (what) => {
  const make = REPEATED[what] as (count: number) => string;
  expect(await growths((count) => callsOn(make, count))).toEqual({});
});

test.each(someOf(REPEATED))("answers of an editor: %s", async (what) => {
  const make = REPEATED[what] as (count: number) => string;
  expect(await growths((count) => editorCallsOn(make(count)))).toEqual({});
});

test.each(someOf(REPEATED_IN_EXPRESSIONS))("in an expression: %s", async (what) => {
  const make = REPEATED_IN_EXPRESSIONS[what] as (count: number) => string;
  expect(await growths((count) => callsOnExpression(make(count)))).toEqual({});
});

test.each<[string, (count: number) => object]>([
  ["properties", (n) => ({ properties: members(n, { type: "string" }) })],
  ["required names", (n) => ({ type: "object", required: Object.keys(members(n, 1)) })],
  ["enum", (n) => ({ enum: Object.keys(members(n, 1)) })],
  ["alternatives", (n) => ({ anyOf: Object.values(members(n, { type: "string" })) })],
  ["parts that all hold", (n) => ({ allOf: Object.values(members(n, { type: "object" })) })],
  ["first elements", (n) => ({ prefixItems: Object.values(members(n, { type: "string" })) })],
])("in a schema: %s", async (_, make) => {
  expect(await growths((count) => callsOnSchema(make, count))).toEqual({});
});

/** The names, or every thirty-second of them where not all cases are tried. */
function someOf(rows: object): string[] {
  return Object.keys(rows).filter((_, i) => notFull === undefined || i % 32 === 0);
}

/** Modules by this URL are read anew; those that are built would be as the tests before loaded them, without counters. */
function sourceOf(path: string): string {
  return new URL(`../../src/${path}`, import.meta.url).href;
}

type Calls = { readonly [name: string]: () => unknown };

/**
 * The calls whose work grows too fast, with the factor. One by one they are counted only when all together do, and then on
 * new documents: what is found out about a document is kept with it.
 */
async function growths(make: (count: number) => Calls): Promise<{ [name: string]: number }> {
  const factor = async (pick: (calls: Calls) => (() => unknown)[]): Promise<number> => {
    const costs: number[] = [];
    for (const count of [FEW, MANY]) {
      const calls = pick(make(count));
      costs.push(
        await work(() => {
          for (const call of calls) call();
        }),
      );
    }
    return (costs[1] as number) / (costs[0] as number);
  };
  const found: { [name: string]: number } = {};
  const whole = await least(() => factor(Object.values));
  if (whole <= MOST) return found;
  for (const name of Object.keys(make(1))) {
    const growth = await least(() => factor((calls) => [calls[name] as () => unknown]));
    if (growth > MOST) found[name] = growth;
  }
  return Object.keys(found).length === 0 ? { together: whole } : found;
}

/** What grows too fast does so each time that it is counted. */
async function least(count: () => Promise<number>): Promise<number> {
  let growth = Number.POSITIVE_INFINITY;
  for (let times = 0; growth > MOST && times < TIMES; times++) {
    growth = Math.min(growth, await count());
  }
  return growth;
}

function callsOn(make: (count: number) => string, count: number): Calls {
  const flow = (n: number): string => `flow 1 x\n\n${make(n)}\n`;
  const text = flow(count);
  const { graph, document } = api.parseFlow(text);
  const none = api.parseFlow("flow 1 x\n");
  const one = api.parseFlow(flow(1));
  return {
    parseFlow: () => api.parseFlow(text),
    formatFlow: () => api.formatFlow(text),
    "printFlow of a document": () => api.printFlow(document),
    "printFlow of a graph": () => api.printFlow(graph),
    normalizeGraph: () => api.normalizeGraph(graph),
    digest: () => api.digest(graph),
    impliedEdges: () => api.impliedEdges(graph),
    validateFlow: () => api.validateFlow(graph, catalog, { document, lint: true }),
    "validateFlow of a graph alone": () => api.validateFlow(graph, catalog),
    "reconcile with the same graph": () => api.reconcile(document, graph),
    "reconcile with nothing": () => api.reconcile(document, none.graph),
    "reconcile of nothing": () => api.reconcile(none.document, graph),
    "reconcile of one": () => api.reconcile(one.document, graph),
    "reconcile with one": () => api.reconcile(document, one.graph),
    locate: () => {
      for (const i of graph.nodes.keys()) api.locate(document, `/nodes/${i}/fields/value`);
    },
    pointerAt: () => api.pointerAt(document, text.length >> 1),
    maskSecrets: () => api.maskSecrets(text),
    sha256Hex: () => sha256Hex(new TextEncoder().encode(text)),
    canonicalJson: () => canonicalJson(graph as never),
  };
}

/** What an editor asks, each of an analysis of its own, at the start, in the middle and at the end. */
function editorCallsOn(items: string): Calls {
  const text = `flow 1 x\n\n${items}\n`;
  const analyser = editor.createAnalyser({ ...catalog, flowUri: (slug) => `file:///${slug}` });
  const ask = (answer: (analysis: dslEditor.Analysis) => unknown) => () =>
    answer(analyser.analyse(text));
  const askAt = (answer: (analysis: dslEditor.Analysis, offset: number) => unknown) =>
    ask((analysis) => {
      for (const offset of [10, text.length >> 1, text.length]) answer(analysis, offset);
    });
  return {
    diagnostics: ask((analysis) => analysis.diagnostics()),
    completions: askAt((analysis, offset) => analysis.completions(offset)),
    hover: askAt((analysis, offset) => analysis.hover(offset)),
    signature: askAt((analysis, offset) => analysis.signature(offset)),
    definition: askAt((analysis, offset) => analysis.definition(offset)),
    references: askAt((analysis, offset) => analysis.references(offset)),
    renamable: askAt((analysis, offset) => analysis.renamable(offset)),
    rename: askAt((analysis, offset) => analysis.rename(offset, "other")),
    symbols: ask((analysis) => analysis.symbols()),
    folds: ask((analysis) => analysis.folds()),
    selections: askAt((analysis, offset) => analysis.selections(offset)),
    tokens: ask((analysis) => analysis.tokens()),
    links: ask((analysis) => analysis.links()),
    format: ask((analysis) => analysis.format()),
    fixesAt: ask((analysis) => analysis.fixesAt(0, text.length)),
    fixAll: ask((analysis) => editor.applyEdits(text, analysis.fixAll())),
    nodeAt: askAt((analysis, offset) => analysis.nodeAt(offset)),
    placeOf: ask((analysis) => analysis.placeOf("n1/n1")),
    editFlow: ask((analysis) => {
      const at = { kind: "addNode", node: { id: "fresh", type: "log", fields: {} } } as const;
      if (analysis.parsed.ok) editor.editFlow(analysis, at);
    }),
  };
}

function callsOnExpression(source: string): Calls {
  const { ast } = api.parseExpression(source);
  const calls: Calls = { parseExpression: () => api.parseExpression(source) };
  if (ast === undefined) return calls;
  const types = new Map([
    ["x", api.typeFromSchema({ type: "string" })],
    ["y", api.typeFromSchema({ type: "object" })],
  ]);
  const compiled = api.compileExpression(source);
  const scope = { get: (root: string) => (root === "x" ? "x" : { a: 1 }) };
  return {
    ...calls,
    printExpression: () => api.printExpression(ast),
    compileExpression: () => api.compileExpression(source),
    evaluate: () => {
      try {
        compiled.evaluate(scope, { nowEpoch: 0 });
      } catch (error) {
        // An evaluation may fail, or be larger than its budget.
        if (!(error instanceof api.ExpressionError)) throw error;
      }
    },
    compileValue: () => api.compileValue([{ $: source }, { $t: ["a", { $: source }] }]),
    findReferences: () => api.findReferences(ast),
    inferType: () => api.inferType(ast, { get: (root) => types.get(root) }),
  };
}

function callsOnSchema(make: (count: number) => object, count: number): Calls {
  const schema = make(count) as never;
  const compiled = api.compileSchema(schema);
  const value = { ...members(count, 1), last: 1 };
  const type = api.typeFromSchema(schema);
  return {
    compileSchema: () => api.compileSchema(schema),
    check: () => compiled.ok && [compiled.check(value), compiled.check(Object.values(value))],
    typeFromSchema: () => api.typeFromSchema(schema),
    fits: () => api.fits(type, type),
    describeType: () => api.describeType(type),
  };
}

function members(count: number, value: unknown): { [name: string]: unknown } {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, value]));
}
