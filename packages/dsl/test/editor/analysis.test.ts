import { readdirSync, readFileSync } from "node:fs";
import { checkFlow, formatFlow, parseFlow } from "@millrace/dsl";
import { applyEdits, createAnalyser, editFlow, type Project } from "@millrace/dsl/editor";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";
import { Random } from "../laws/random.ts";

const project: Project = catalog;
const analyser = createAnalyser(project);
const folder = new URL("../fixtures/flows/", import.meta.url);
const fixtures = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), "utf8"),
}));
const PAGES = fixtures.find(({ name }) => name.startsWith("04"))?.text ?? "";

/** Offset of a text, and of a part of it. */
function at(text: string, found: string, part = found): number {
  return text.indexOf(found) + found.indexOf(part);
}

describe("an analysis of a fixture", () => {
  test.each(fixtures)("$name says what checking and formatting say", ({ text }) => {
    const analysis = analyser.analyse(text);
    expect(analysis.diagnostics()).toEqual(checkFlow(text, project).diagnostics);
    expect(applyEdits(text, analysis.format())).toBe(formatFlow(text).text);
    expect(analysis.parsed.graph).toEqual(parseFlow(text).graph);
  });
});

describe("a hover", () => {
  const hover = (text: string, offset: number): string | undefined =>
    analyser.analyse(text).hover(offset)?.markdown;

  test("on a node's name says its type", () => {
    expect(hover(PAGES, at(PAGES, "node score", "score"))).toContain("`node score: transform`");
  });

  test("on a node's type says its title and its ports", () => {
    const text = hover(PAGES, at(PAGES, "http.request"));
    expect(text).toContain("ports: `out`, `error`");
  });

  test("on a field says its type", () => {
    expect(hover(PAGES, at(PAGES, "method = "))).toContain("`method: string`");
  });

  test("on a policy says its members", () => {
    expect(hover(PAGES, at(PAGES, "@retry", "retry"))).toContain("members: `max`");
  });

  test("on an input says its type and its default", () => {
    expect(hover(PAGES, at(PAGES, "inputs.urls", "urls"))).toContain(
      "`input urls: list of string`",
    );
  });

  test("on a function says its signature", () => {
    expect(hover(PAGES, at(PAGES, "sortBy"))).toContain(
      "`sortBy(list, x, number|string|bool) list`",
    );
  });

  test("shows text of a flow and a catalog without markup and links", () => {
    const hostile = "<img src=x> [a](https://evil.example) `b` **c** https://evil.example";
    const entry = catalog.entry("log");
    const analysis = createAnalyser({
      ...catalog,
      types: () => ["log"],
      entry: () => entry && { ...entry, title: hostile, summary: hostile },
    }).analyse('flow 1 x\n\nnode a: log {\n  message = ""\n}\n');
    const text = analysis.hover("flow 1 x\n\nnode a: l".length)?.markdown ?? "";
    expect(text).toContain("evil");
    const outside = text.replace(/`[^`]*`/g, "").replace(/\\[\s\S]/g, "");
    expect(outside).not.toMatch(/[<>[\]`]|:\/\//);
  });
});

test("what a flow takes and gives has the types that are declared or can be inferred", () => {
  const { inputs, outputs } = analyser
    .analyse(`flow 1 x

input urls: string[]

input whatever

node fetch: http.request {
  url = inputs.urls[0]
}

node made: transform {
  value = 1
}

output count = size(inputs.urls)

output status = fetch.status

output text = "got \${fetch.status}"

output list: number[] = made.value

output made = made.value
`)
    .interfaceTypes();
  expect([...inputs]).toEqual([["urls", "list of string"]]);
  expect([...outputs]).toEqual([
    ["count", "int"],
    ["status", "int"],
    ["text", "string"],
    ["list", "list of number"],
  ]);
});

test("a signature has the parameter that the cursor is in", () => {
  const text = 'flow 1 x\n\noutput a = substring("abc", 1, ';
  const signature = analyser.analyse(text).signature(text.length);
  expect(signature?.label).toBe("substring(string, start, end?) string");
  expect(signature?.parameters.map(([from, to]) => signature.label.slice(from, to))).toEqual([
    "string",
    "start",
    "end?",
  ]);
  expect(signature?.active).toBe(2);
});

test("a definition is the declaration in this text, or the file of another flow", () => {
  const analysis = analyser.analyse(PAGES);
  const target = analysis.definition(at(PAGES, "min(1, size(string(get.body)", "get"));
  expect(PAGES.slice(target?.name.start, target?.name.end)).toBe("get");
  expect(PAGES.slice(target?.whole.start, target?.whole.end)).toMatch(/^node get: http.request \{/);
  const text = 'flow 1 x\n\nnode a: subflow {\n  flow = "child"\n}\n';
  const withFlows = createAnalyser({ ...catalog, flowUri: (slug) => `file:///${slug}.flow` });
  const other = withFlows.analyse(text).definition(at(text, '"child"', "child"));
  expect(other?.uri).toBe("file:///child.flow");
});

test("references are all places of a name, its declaration among them", () => {
  const found = analyser.analyse(PAGES).references(at(PAGES, "pages -> best"));
  expect(found.filter(({ isDeclaration }) => isDeclaration)).toHaveLength(1);
  expect(found.map(({ start, end }) => PAGES.slice(start, end))).toEqual([
    ...["pages", "pages", "pages", "pages", "pages"],
    '"pages/get"',
  ]);
});

test("a reference to a member is its name, without dot and brackets", () => {
  const text = `flow 1 x\n\ninput size: int\n\noutput a = inputs.size + inputs?.size + inputs["size"]\n`;
  const analysis = analyser.analyse(text);
  const offset = text.indexOf("size");
  expect(analysis.references(offset).map(({ start, end }) => text.slice(start, end))).toEqual([
    ...["size", "size", "size", '"size"'],
  ]);
  const member = text.indexOf(".size") + 1;
  expect(analysis.renamable(member)).toEqual({
    span: { start: member, end: member + "size".length },
    name: "size",
  });
});

test("a place in the text is a node, and a node a place in the text", () => {
  const analysis = analyser.analyse(PAGES);
  expect(analysis.nodeAt(at(PAGES, "url = url"))).toBe("pages/get");
  const place = analysis.placeOf("pages/get");
  expect(PAGES.slice(place?.start, place?.end)).toMatch(/^node get: http\.request \{/);
  expect(analysis.placeOf("pages/none")).toBeUndefined();
});

test("a change of the flow is made in its text", () => {
  const analysis = analyser.analyse(PAGES);
  const edits = editFlow(analysis, { kind: "renameNode", path: "pages/get", to: "load" });
  expect(applyEdits(PAGES, edits)).toBe(PAGES.replaceAll(/\bget\b/g, "load"));
});

test("the same text of the same project is analysed once, and anew when the project changed", () => {
  const own = createAnalyser(project);
  const first = own.analyse(PAGES);
  expect(own.analyse(PAGES, first)).toBe(first);
  own.changed();
  expect(own.analyse(PAGES, first)).not.toBe(first);
});

describe("findings in steps", () => {
  const broken = PAGES.replace("node score", "node score: [").replace("url = url", "urll = url");
  /** Does this many steps; the result when they were all. */
  function work<T>(steps: Generator<void, T>, count: number): T | undefined {
    for (let at = 0; at < count; at += 1) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    return undefined;
  }

  test("are those of one go, and a step is no more than an item or a node", () => {
    for (const text of [PAGES, broken, "", "flow 1 x\n", "node a: log {"]) {
      const steps = analyser.analyse(text).diagnosticsInSteps();
      const items = parseFlow(text).graph.nodes.length;
      expect(work(steps, 2 * items)).toBeUndefined();
      expect(work(steps, Number.POSITIVE_INFINITY)).toEqual(checkFlow(text, project).diagnostics);
    }
  });

  test("wait while other answers are given, for whoever asks, and are found once", () => {
    const expected = checkFlow(broken, project).diagnostics;
    expect(expected.length).toBeGreaterThan(1);
    for (let pause = 0; pause < 30; pause += 1) {
      const analysis = analyser.analyse(broken);
      const first = analysis.diagnosticsInSteps();
      const second = analysis.diagnosticsInSteps();
      const early = work(first, pause);
      expect(analysis.parsed).toEqual(parseFlow(broken));
      const other = work(second, pause);
      const found = analysis.diagnostics();
      expect(found).toEqual(expected);
      expect(early ?? work(first, 1)).toBe(found);
      expect(other ?? work(second, 1)).toBe(found);
    }
  });

  test("are found anew by the next when the project failed", () => {
    let fails = true;
    const entry = (type: string): ReturnType<Project["entry"]> => {
      if (fails) throw new Error("not there yet");
      return catalog.entry(type);
    };
    const analysis = createAnalyser({ ...catalog, types: () => catalog.types(), entry }).analyse(
      PAGES,
    );
    expect(() => analysis.diagnostics()).toThrow("not there yet");
    fails = false;
    expect(analysis.diagnostics()).toEqual(checkFlow(PAGES, project).diagnostics);
  });
});

test("no cut of a text and no offset makes an answer throw or point outside of the text", () => {
  const random = new Random(7);
  for (let round = 0; round < casesOf(600); round += 1) {
    const { text: whole } = random.pick(fixtures);
    const from = random.below(whole.length);
    const text = whole.slice(0, from) + whole.slice(from + random.below(9));
    const analysis = analyser.analyse(text);
    const offset = random.chance(0.1) ? random.below(9) - 4 : from;
    const spans = [
      ...analysis.references(offset),
      ...analysis.folds(),
      ...analysis.selections(offset),
      ...analysis.links(),
      ...[analysis.hover(offset) ?? { start: 0, end: 0 }],
      ...analysis.completions(offset).map(({ from: start, to: end }) => ({ start, end })),
    ];
    analysis.signature(offset);
    analysis.definition(offset);
    analysis.rename(offset, "other");
    analysis.fixesAt(offset, offset + 5);
    analysis.symbols();
    analysis.tokens();
    for (const { start, end } of spans) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(text.length);
      expect(start).toBeLessThanOrEqual(end);
    }
  }
});
