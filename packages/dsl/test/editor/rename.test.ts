import { readdirSync, readFileSync } from "node:fs";
import { validateFlow } from "@millrace/dsl";
import { describe, expect, test } from "vitest";
import { applyEdits } from "../../src/editor/apply-edits.ts";
import { NameIndex } from "../../src/editor/names.ts";
import { Reading } from "../../src/editor/reading.ts";
import { renameEdits } from "../../src/editor/rename.ts";
import { catalog } from "../fixtures/catalog.ts";
import { reblank } from "../laws/decorate.ts";
import type { Random } from "../laws/random.ts";
import { Sample } from "../laws/sample.ts";
import { SEEDS } from "./seeds.ts";

const folder = new URL("../fixtures/flows/", import.meta.url);
const fixtures = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), "utf8"),
}));

function read(text: string): { reading: Reading; names: NameIndex } {
  const reading = new Reading(text, catalog);
  return { reading, names: new NameIndex(reading) };
}

/** Renames what stands at the mark `¦`. */
function rename(marked: string, to: string): string {
  const offset = marked.indexOf("¦");
  const { reading, names } = read(marked.replace("¦", ""));
  const result = renameEdits(reading, names, offset, to);
  return "refused" in result
    ? `${result.refused}: ${result.message}`
    : applyEdits(reading.text, result.edits);
}

const FLOW = `flow 1 names

input base: string

node fetch: http.request {
  url = inputs.base # the base
}

node all: map {
  items = fetch.body
  as = "page"
  body {
    node score: transform {
      value = filter(page.parts, p, p.size > size(fetch.body) + index)
    }
  }
}

node quoted: transform {
  value = nodes["fetch"].body
}

fetch -> all -> quoted
fetch.error -> quoted

schedule nightly {
  cron = "0 3 * * *"
  inputs = { base: "https://example.org" }
}

layout {
  fetch = [0, 0]
  "all/score" = [1, 1]
}
`;

describe("a rename changes every place of a name", () => {
  test("a node: its label, reads, edges and layout", () => {
    expect(rename(FLOW.replace("node fetch", "node fet¦ch"), "get")).toBe(
      FLOW.replaceAll(/\bfetch\b/g, "get"),
    );
  });

  test("a node of a body, from its key in the layout", () => {
    expect(rename(FLOW.replace('"all/score"', '"all/sc¦ore"'), "rate")).toBe(
      FLOW.replaceAll("score", "rate"),
    );
  });

  test("an input: its label, reads and the schedules that give it", () => {
    expect(rename(FLOW.replace("inputs.base", "inputs.ba¦se"), "root")).toBe(
      FLOW.replace("input base", "input root")
        .replace("inputs.base", "inputs.root")
        .replace("{ base:", "{ root:"),
    );
  });

  test("a local that is written, and the variable of a macro", () => {
    expect(rename(FLOW.replace("filter(page", "filter(pa¦ge"), "it")).toBe(
      FLOW.replace('as = "page"', 'as = "it"').replace("filter(page", "filter(it"),
    );
    expect(rename(FLOW.replace("p.size", "¦p.size"), "part")).toBe(
      FLOW.replace(", p, p.size", ", part, part.size"),
    );
  });

  test("the local of a body, also where its node reads it", () => {
    const text =
      'flow 1 x\n\nnode l: loop {\n  init = 1\n  as = "sum"\n  until = sum > 3 + index\n  body {\n    node n: transform {\n      value = sum + 1\n    }\n\n    output = n.value\n  }\n}\n';
    expect(rename(text.replace("until = sum", "until = s¦um"), "total")).toBe(
      text.replaceAll("sum", "total"),
    );
  });

  test("a connection: its label and the fields that name it", () => {
    const text =
      'flow 1 x\n\nconnection tracker: oauth {\n  service = "tracker"\n}\n\nnode call: service.call {\n  connection = "tracker"\n  operation = "list"\n}\n';
    expect(rename(text.replace("connection tracker", "connection tra¦cker"), "issues")).toBe(
      text
        .replace("connection tracker", "connection issues")
        .replace('connection = "tracker"', 'connection = "issues"'),
    );
  });

  test("a name that is no identifier is quoted, and read by `nodes`", () => {
    const text = rename(FLOW.replace("node fetch", "node fet¦ch"), "first page");
    expect(text).toContain('node "first page": http.request');
    expect(text).toContain('items = nodes["first page"].body');
    expect(text).toContain('"first page" -> all -> quoted');
    expect(text).toContain('"first page".error -> quoted');
  });
});

describe("a rename is refused", () => {
  test.each([
    ["a taken name", "node fet¦ch", "all", /^taken: all is the name of another node/],
    ["a word of the language", "node fet¦ch", "inputs", /^taken: inputs is a word of the language/],
    ["no name", "node fet¦ch", " ", /^not_a_name: /],
    ["an id with a slash", "node fet¦ch", "a/b", /^not_a_name: a\/b is no node id/],
    ["a name that a local would capture", "node fet¦ch", "page", /^would_capture: .* line 14/],
    ["a name that a node would give to a read", "node sc¦ore", "fetch", /^would_capture: /],
    [
      "a name in text that cannot be read",
      "url = inputs.ba¦se # the base\n}\n\nnode bad: log {\n  message = [inputs.base\n",
      "root",
      /^not_renamable: line 10 cannot be read and holds base; mend it first/,
    ],
    [
      "a name with an escape that is none",
      'input base: string\n\ninput "\\u¦" = 1',
      "root",
      /^not_renamable: line 5 cannot be read and holds \\u; mend it first/,
    ],
    ["no name at the place", "flow 1 n¦ames", "other", /^not_renamable: nothing/],
    ["the index of a body", "+ ind¦ex", "at", /^not_renamable: index is the default name/],
  ])("%s", (_, marked, to, message) => {
    const [first = ""] = marked.replace("¦", "").split("\n");
    expect(rename(FLOW.replace(first, marked), to)).toMatch(message);
  });
});

/** Renames each name of a text there and back. */
function checkNames(text: string, to: string, most: number): number {
  const { reading, names } = read(text);
  const codes = (of: Reading): string[] =>
    validateFlow(of.parsed.graph, catalog).map(({ code }) => code);
  const known = codes(reading);
  // Where names are wrong already, another name is another finding.
  const isSound = !known.some((code) => /^FLOW(?:20|5009|4001|4005|4012|4016|6003)/.test(code));
  const step = Math.max(1, Math.floor(names.places.length / most));
  let renamed = 0;
  for (const [index, place] of names.places.entries()) {
    const { start, end, named, spelling } = place;
    if (index % step !== 0 || spelling === "segment") continue;
    expect(text.slice(start, end)).not.toBe("");
    const there = renameEdits(reading, names, start, to);
    if ("refused" in there) continue;
    const next = read(applyEdits(text, there.edits));
    const before = there.edits.filter((edit) => edit.from < start);
    const moved = before.reduce((by, edit) => by + edit.text.length - (edit.to - edit.from), start);
    if (isSound) expect(codes(next.reading), `${named.name} as ${to}\n${text}`).toEqual(known);
    const back = renameEdits(next.reading, next.names, moved, named.name);
    if ("refused" in back) {
      // A bad name can be given up, and not taken back; so can one that text holds which cannot be read.
      if (/cannot be read/.test(back.message)) continue;
      expect(back.refused, text).toMatch(/^(?:not_a_name|taken)$/);
      continue;
    }
    const shown = `${named.name} as ${to}, at ${start} in\n${text}\n---\n${next.reading.text}`;
    expect(applyEdits(next.reading.text, back.edits), shown).toBe(text);
    renamed += 1;
  }
  return renamed;
}

/** A text without a few of its characters. */
function cut(text: string, r: Random): string {
  const at = r.below(text.length);
  return text.slice(0, at) + text.slice(at + 1 + r.below(9));
}

describe("a name given back gives the same bytes", () => {
  test.each(fixtures)("$name", ({ text }) => {
    checkNames(text, "another-name", Number.POSITIVE_INFINITY);
  });

  test("in random flows, also with comments, with other blanks, and with a cut", () => {
    let renamed = 0;
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const sample = new Sample(seed);
      if (sample.isLarge) continue;
      const r = sample.random(25);
      const text = r.pick([
        () => sample.text,
        () => sample.decorated,
        () => reblank(sample.decorated, r),
        () => cut(sample.decorated, r),
      ])();
      renamed += checkNames(text, r.pick(["z", "z-z", "z z", "true"]), 6);
    }
    expect(renamed).toBeGreaterThan(SEEDS / 2);
  }, 600_000);
});
