import { readdirSync, readFileSync } from "node:fs";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { applyEdits } from "../../src/editor/apply-edits.ts";
import { completionsAt } from "../../src/editor/completion/completions.ts";
import { Reading } from "../../src/editor/reading.ts";
import type { Completion, Project } from "../../src/editor/types.ts";
import { parseFlow } from "../../src/index.ts";
import type { Item } from "../../src/language/items.ts";
import type { Span } from "../../src/syntax/ast.ts";
import { catalog } from "../fixtures/catalog.ts";
import { Random } from "../laws/random.ts";
import { Sample } from "../laws/sample.ts";
import { SEEDS } from "./seeds.ts";

const project: Project = {
  ...catalog,
  flow: (slug) =>
    slug === "child"
      ? { inputs: [{ name: "size", schema: { type: "integer" } }], outputs: [], flows: [] }
      : undefined,
  flows: () => ["child", "other-flow"],
  vars: () => ["region", "limit"],
};

function at(marked: string): readonly Completion[] {
  const offset = marked.indexOf("¦");
  return completionsAt(new Reading(marked.replace("¦", ""), project), offset);
}

const HEAD = "flow 1 x\n\n";
const TWO = `${HEAD}input base: string

node fetch: http.request {
  url = inputs.base
}

node pages: map {
  items = fetch.body
  as = "page"
  body {
    node get: http.request {
      url = page
    }

    node score: transform {
      value = ¦
    }

    output = score.value
  }
}
`;

describe("a completion list has", () => {
  test.each<[where: string, text: string, labels: readonly string[], absent: readonly string[]]>([
    ["blocks at the start of a file", "¦", ["flow", "input", "node", "output"], ["body"]],
    [
      "fields in a block on one line",
      `${HEAD}node a: http.request { url = "x"; ¦ }`,
      ["method"],
      ["url"],
    ],
    [
      "no second output of a body",
      TWO.replace("= ¦", "= 1").replace(
        "    output = score.value",
        "    ¦\n    output = score.value",
      ),
      ["node", "get"],
      ["output"],
    ],
    ["no second flow", `${HEAD}¦`, ["input", "layout"], ["flow", "body"]],
    [
      "nodes where an edge may start",
      TWO.replace("¦", "1").concat("\n¦"),
      ["fetch", "pages"],
      ["get"],
    ],
    ["node types", `${HEAD}node a: ¦`, ["http.request", "map", "condition"], ["node"]],
    ["node types behind a dot", `${HEAD}node a: http.¦`, ["http.request"], ["map"]],
    [
      "node types behind a word that none begins with",
      `${HEAD}node a: htp.¦`,
      ["http.request"],
      [],
    ],
    [
      "names of variables, also those that the flow reads elsewhere",
      `${HEAD}output a = vars.seen\n\noutput b = vars.¦\n`,
      ["region", "limit", "seen"],
      ["vars", "size"],
    ],
    ["type names", `${HEAD}input n: ¦`, ["string", "int", "datetime"], ["map"]],
    ["kinds of connections", `${HEAD}connection c: ¦`, ["oauth", "apiKey"], []],
    [
      "fields, the needed first",
      `${HEAD}node a: http.request {\n  ¦\n}`,
      ["url", "method"],
      ["body {"],
    ],
    ["no field twice", `${HEAD}node a: http.request {\n  url = "x"\n  ¦\n}`, ["method"], ["url"]],
    ["body where the type has one", `${HEAD}node a: map {\n  ¦\n}`, ["items", "body"], []],
    ["no body where the type has none", `${HEAD}node a: transform {\n  ¦\n}`, ["value"], ["body"]],
    [
      "attributes of a schedule",
      `${HEAD}schedule s {\n  ¦\n}`,
      ["cron", "timezone", "overlap"],
      [],
    ],
    [
      "attributes behind a value",
      `${HEAD}output a = 1 {\n  ¦\n}`,
      ["schema", "description"],
      ["size"],
    ],
    [
      "policies by their plain names",
      `${HEAD}node a: log {\n  @¦\n}`,
      ["timeout", "retry"],
      ["@timeout"],
    ],
    ["policies of a flow", "flow 1 x {\n  @¦\n}", ["timeout", "on-failure", "notify"], ["retry"]],
    [
      "members of a policy",
      `${HEAD}node a: log {\n  @retry = { max: 1, ¦ }\n}`,
      ["delay", "if"],
      ["max"],
    ],
    ["choices of a policy", `${HEAD}node a: log {\n  @join = ¦\n}`, ["all", "any"], ["fetch"]],
    [
      "choices of a field",
      `${HEAD}node a: http.request {\n  method = ¦\n}`,
      ["GET", "POST"],
      ["fetch"],
    ],
    [
      "choices in a string",
      `${HEAD}node a: http.request {\n  method = "¦"\n}`,
      ["GET", "POST"],
      ["inputs"],
    ],
    ["ports", `${TWO.replace("¦", "1")}\nfetch.¦`, ["error", "out"], ["fetch"]],
    [
      "ports of a condition",
      `${HEAD}node c: condition {\n  if = true\n}\n\nc.¦ -> d`,
      ["true", "false", "error"],
      ["out"],
    ],
    [
      "nodes behind an arrow",
      `${TWO.replace("¦", "1")}\nfetch -> ¦`,
      ["pages"],
      ["fetch", "get", "score"],
    ],
    [
      "names in scope",
      TWO,
      ["page", "index", "get", "fetch", "inputs", "nodes", "run", "size"],
      ["score", "pages"],
    ],
    ["members of an input", TWO.replace("¦", "inputs.¦"), ["base"], ["page"]],
    ["members of a node", TWO.replace("¦", "fetch.¦"), ["body", "status", "error"], ["page"]],
    ["members behind a question mark", TWO.replace("¦", "fetch?.st¦"), ["status"], ["size"]],
    ["members in a hole", TWO.replace("¦", '"at ${fetch.¦}"'), ["status"], ["size"]],
    ["names in a hole that is open", TWO.replace("¦", '"at ${¦'), ["page", "fetch"], ["pages"]],
    [
      "members where the item does not parse",
      TWO.replace("¦", "[1, fetch.¦"),
      ["status"],
      ["size"],
    ],
    ["variables of a macro", TWO.replace("¦", "filter([{ a: 1 }], it, ¦)"), ["it", "page"], []],
    ["members of a variable", TWO.replace("¦", "filter([{ a: 1 }], it, it.¦)"), ["a"], ["page"]],
    ["nodes behind `nodes.`", TWO.replace("¦", "nodes.¦"), ["get", "fetch"], ["score", "page"]],
    ["nodes in an index", TWO.replace("¦", 'nodes["¦"].body'), ["get", "fetch"], ["score"]],
    ["inputs in an index that is open", TWO.replace("¦", 'inputs["¦'), ["base"], ["page"]],
    [
      "variables of a macro that is open",
      TWO.replace("¦", "filter([{ a: 1 }], it, it.¦"),
      ["a"],
      ["page"],
    ],
    ["no name of the flow for a new variable", TWO.replace("¦", "filter([1], ¦, x)"), [], ["get"]],
    ["no name behind an operand", TWO.replace("¦", "fetch ¦"), [], ["page", "size"]],
    ["no name behind one in a list that is open", TWO.replace("¦", "[1, fetch ¦"), [], ["page"]],
    ["no name for a number", TWO.replace("¦", "1¦"), [], ["page", "size"]],
    ["names that begin as an operator", TWO.replace("¦", "in¦"), ["index", "inputs"], []],
    ["nothing for an operator", TWO.replace("¦", "page in¦ get"), [], ["index", "inputs"]],
    ["functions where one is called", TWO.replace("¦", "si¦ze(page)"), ["size"], ["page"]],
    [
      "no choice in front of another",
      `${HEAD}node a: http.request {\n  method = ¦"GET"\n}`,
      [],
      ["POST", "inputs"],
    ],
    [
      "no choice in a text with holes",
      `${HEAD}node a: http.request {\n  method = "\${run.id}¦"\n}`,
      [],
      ["POST"],
    ],
    ["nothing in a comment", `${HEAD}# ¦`, [], ["node"]],
    [
      "nothing in text",
      `${HEAD}node a: log {\n  message = "some ¦ words"\n}`,
      [],
      ["inputs", "size"],
    ],
    [
      "flows of the project",
      `${HEAD}node a: subflow {\n  flow = ¦\n}`,
      ["child", "other-flow"],
      [],
    ],
    [
      "inputs of a flow that is called",
      `${HEAD}node a: subflow {\n  flow = "child"\n  inputs = { ¦ }\n}`,
      ["size"],
      [],
    ],
    [
      "nodes without a place",
      `${TWO.replace("¦", "1")}\nlayout {\n  ¦\n}`,
      ["fetch", "pages/get"],
      ["inputs"],
    ],
  ])("%s", (_, text, labels, absent) => {
    const found = at(text).map(({ label }) => label);
    expect(labels.filter((label) => !found.includes(label))).toEqual([]);
    expect(absent.filter((label) => found.includes(label))).toEqual([]);
  });

  test("locals before nodes of the body, those before nodes outside, then roots, then functions", () => {
    const ranked = at(TWO).map(({ label }) => label);
    const order = ["index", "page", "get", "fetch", "inputs", "size"].map((name) =>
      ranked.indexOf(name),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test("what fits the place before what only may", () => {
    const text = `${HEAD}input n: int\ninput text: string\n\nnode a: http.request {\n  url = inputs.¦\n}\n`;
    expect(at(text).map(({ label }) => label)).toEqual(["text", "n"]);
  });
});

test("a completion replaces the identifier around the cursor and nothing else", () => {
  const found = at(TWO.replace("¦", "fetch.sta¦t + 1"));
  const first = found.find(({ label }) => label === "status");
  expect(first?.insert).toBe("status");
  expect((first?.to ?? 0) - (first?.from ?? 0)).toBe("stat".length);
});

test("the type of a node replaces the whole name with its dots", () => {
  for (const typed of ["htp.¦", "ht¦p.request", "http.¦request", "http.req¦uest"]) {
    const marked = `${HEAD}node a: ${typed} {\n}\n`;
    const found = at(marked).find(({ label }) => label === "http.request");
    const made = found && applyEdits(marked.replace("¦", ""), [{ ...found, text: found.insert }]);
    expect(made).toBe(`${HEAD}node a: http.request {\n}\n`);
  }
});

test("in a string it replaces all of its text, and closes it", () => {
  const made = (marked: string, label: string): string | undefined => {
    const found = at(marked).find((each) => each.label === label);
    return found && applyEdits(marked.replace("¦", ""), [{ ...found, text: found.insert }]);
  };
  const flow = (value: string): string => `${HEAD}node a: subflow {\n  flow = ${value}\n}\n`;
  expect(made(flow('"other-f¦low@2"'), "child")).toBe(flow('"child"'));
  expect(made(flow('"other¦'), "child")).toBe(flow('"child"'));
  const box = `${HEAD}node "box 7": log {}\n\noutput a = nodes["bo¦x 7"].error\n`;
  expect(made(box, "box 7")).toBe(box.replace("¦", ""));
});

test("a block is a snippet where nothing stands behind it", () => {
  const node = at(`${HEAD}no¦`).find(({ label }) => label === "node");
  expect(node).toMatchObject({ insert: "node", snippet: "node ${1:name}: ${2:type} {\n  $0\n}" });
  const before = at(`${HEAD}no¦ a: log`).find(({ label }) => label === "node");
  expect(before?.snippet).toBeUndefined();
});

test("the header comes first in a file without one", () => {
  expect(at("¦")[0]?.label).toBe("flow");
});

test("a name that is no identifier is written so that it can be read", () => {
  const text = `${HEAD}input "odd name": int\n\nnode "box 7": log {}\n\noutput a = ¦\n`;
  expect(at(text).find(({ label }) => label === "box 7")?.insert).toBe('nodes["box 7"]');
  const member = at(text.replace("¦", "inputs.¦"));
  expect(member.find(({ label }) => label === "odd name")?.insert).toBe('"odd name"');
});

const folder = new URL("../fixtures/flows/", import.meta.url);
const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));

/** Errors of families 0 and 1 in a text. */
function slips(text: string): number {
  return parseFlow(text).diagnostics.filter(({ code }) => /^FLOW[01]/.test(code)).length;
}

/** A snippet whose places keep their texts. */
function filled(snippet: string): string {
  return snippet.replaceAll(/\$\{\d+:([^}]*)\}|\$0/g, (_, shown: string = "") => shown);
}

/**
 * Applies a completion of each place; what is written in the place of something, or into a value, adds no slip when the item had
 * none.
 */
function check(text: string, offsets: Iterable<number>, r: Random): number {
  let applied = 0;
  const before = slips(text);
  const reading = new Reading(text, project);
  for (const offset of offsets) {
    const found = completionsAt(reading, offset);
    if (found.length === 0) continue;
    const { from, to, insert, snippet, label, kind } = r.pick(found);
    expect(from).toBeLessThanOrEqual(offset);
    expect(to).toBeGreaterThanOrEqual(offset);
    // The first word of a new item or member is not all of it.
    const [line = ""] = text.slice(text.lastIndexOf("\n", from - 1) + 1).split("\n");
    const isAlone = line.trim() === text.slice(from, to);
    if (snippet !== undefined) {
      const made = applyEdits(text, [{ from, to, text: filled(snippet) }]);
      expect(slips(made), `${snippet} at ${offset} of ${text}`).toBeLessThanOrEqual(before);
      applied += 1;
    }
    const isBegun = from < to ? !isAlone : isInValue(reading.items, offset) && kind !== "property";
    const item = reading.items.find(({ start, end }) => start <= offset && offset <= end);
    if (!isBegun || item === undefined || isSlipped(text, item)) continue;
    const next = applyEdits(text, [{ from, to, text: insert }]);
    const what = `${label} for ${text.slice(from, to)} at ${offset}, ¦ in ${text.slice(0, offset)}¦${text.slice(offset)}`;
    expect(slips(next), what).toBeLessThanOrEqual(before);
    applied += 1;
  }
  return applied;
}

function isSlipped(text: string, { start, end }: Span): boolean {
  return parseFlow(text).diagnostics.some(
    ({ code, range }) =>
      /^FLOW[01]/.test(code) &&
      range !== undefined &&
      range.start.offset <= end &&
      start <= range.end.offset,
  );
}

function isInValue(items: readonly Item[], offset: number): boolean {
  const holds = (span: Span | undefined): boolean =>
    span !== undefined && span.start <= offset && offset <= span.end;
  return items.some(
    (item) =>
      (item.kind !== "edge" && holds(item.value)) ||
      (item.kind === "block" && isInValue(item.items ?? [], offset)),
  );
}

function someOffsets(text: string, count: number, r: Random): number[] {
  return Array.from({ length: count }, () => r.below(text.length + 1));
}

describe("E3: a completion adds no syntax error", () => {
  test("in the fixtures, at every place", () => {
    let applied = 0;
    const step = 1_000 / casesOf(1_000);
    for (const [seed, text] of texts.entries()) {
      const r = new Random(seed);
      const offsets = Array.from({ length: text.length + 1 }, (_, at) => at);
      applied += check(text, r.shuffle(offsets).slice(0, text.length / step), r);
    }
    expect(applied).toBeGreaterThan(casesOf(5_000));
  });

  test("in random flows, also with one cut", () => {
    let applied = 0;
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const sample = new Sample(seed);
      if (sample.isLarge) continue;
      const r = sample.random(24);
      const whole = r.chance(0.5) ? sample.text : sample.decorated;
      const cut = r.below(whole.length);
      const text = r.chance(0.5) ? whole : whole.slice(0, cut) + whole.slice(cut + 1 + r.below(9));
      applied += check(text, [cut, ...someOffsets(text, 3, r)], r);
    }
    expect(applied).toBeGreaterThan(SEEDS / 4);
  }, 600_000);
});

test("no text and no offset makes it throw", () => {
  for (const text of texts.slice(0, 6)) {
    for (let cut = 0; cut < text.length; cut += 41) {
      const reading = new Reading(text.slice(0, cut), project);
      for (const offset of [cut, cut - 3, cut >> 1, -1, cut + 9, Number.NaN])
        completionsAt(reading, offset);
    }
  }
});
