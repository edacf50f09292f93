import { readdirSync, readFileSync } from "node:fs";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { applyEdits } from "../../src/editor/apply-edits.ts";
import { completionsAt } from "../../src/editor/completion/completions.ts";
import { Reading } from "../../src/editor/reading.ts";
import type { Completion, Project } from "../../src/editor/types.ts";
import { parseFlow, printFlow } from "../../src/index.ts";
import { catalog } from "../fixtures/catalog.ts";
import { anyGraph } from "../laws/generate.ts";

const project: Project = {
  ...catalog,
  entry: (type, version) => catalog.entry(type, version),
  types: () => catalog.types(),
  flow: (slug) => (slug === "child" ? CHILD : undefined),
  flows: () => ["child", "other-flow"],
};

const CHILD = {
  inputs: [{ name: "size", schema: { type: "integer" } }],
  outputs: [],
  flows: [],
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
    ["no second flow", `${HEAD}¦`, ["input", "layout"], ["flow", "body"]],
    [
      "nodes where an edge may start",
      TWO.replace("¦", "1").concat("\n¦"),
      ["fetch", "pages"],
      ["get"],
    ],
    ["node types", `${HEAD}node a: ¦`, ["http.request", "map", "condition"], ["node"]],
    ["node types behind a dot", `${HEAD}node a: http.¦`, ["http.request"], ["map"]],
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
    ["policies of a flow", "flow 1 x {\n  @¦\n}", ["timeout", "on-failure"], ["retry"]],
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

/** A completion in an identifier of a text that parses leaves a text that parses. */
function check(text: string, step: number): number {
  let applied = 0;
  if (slips(text) > 0) return 0;
  const reading = new Reading(text, project);
  const marks = [...text.matchAll(/[A-Za-z_][\w-]*/g)];
  for (const [index, { index: start, 0: word }] of marks.entries()) {
    if (index % step !== 0) continue;
    for (const { from, to, insert, label } of completionsAt(reading, start + 1).slice(0, 8)) {
      if (from !== start || to !== start + word.length) continue;
      const next = applyEdits(text, [{ from, to, text: insert }]);
      expect(slips(next), `${label} for ${word} at ${start} in ${next}`).toBe(0);
      applied += 1;
    }
  }
  return applied;
}

describe("a completion adds no syntax error", () => {
  test("in the fixtures", () => {
    expect(texts.map((text) => check(text, 7)).reduce((a, b) => a + b)).toBeGreaterThan(100);
  });

  test("in random flows", () => {
    let applied = 0;
    for (let seed = 0; seed < casesOf(1_000); seed += 1) {
      applied += check(printFlow(anyGraph(seed)), 40);
    }
    expect(applied).toBeGreaterThan(casesOf(1_000) / 10);
  });
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
