import { readdirSync, readFileSync } from "node:fs";
import { checkFlow, type Diagnostic, parseFlow } from "@millrace/dsl";
import { applyEdits } from "@millrace/dsl/editor";
import { casesOf } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fixAll, fixesAt } from "../../src/editor/fixes.ts";
import { Reading } from "../../src/editor/reading.ts";
import { catalog } from "../fixtures/catalog.ts";
import { breakOne, slipOne, someItems } from "../laws/faults.ts";
import { Random } from "../laws/random.ts";
import { SEEDS } from "./seeds.ts";

const FLOWS = new URL("../fixtures/flows/", import.meta.url);

const SLIPS = 'flow 1 f\n\nnode a: log {\n  message: "x"\n}\n\nnode b: log {\n  mesage = "y"\n}\n';

test("the fixes at a place are those of the findings there", () => {
  const { diagnostics } = checkFlow(SLIPS, catalog);
  const at = SLIPS.indexOf("mesage");
  const fixes = fixesAt(diagnostics, at + 2, at + 2);
  expect(fixes.map(({ title }) => title)).toEqual(["write message"]);
  expect(applyEdits(SLIPS, fixes[0]?.edits ?? [])).toContain('message = "y"');
  expect(fixesAt(diagnostics, 0, 1)).toEqual([]);
  expect(fixesAt(diagnostics, 0, SLIPS.length).length).toBe(2);
  expect(fixesAt(diagnostics, Number.NaN, Number.NaN)).toEqual([]);
});

test("all certain fixes are made at once", () => {
  const { diagnostics } = checkFlow(SLIPS, catalog);
  const text = applyEdits(SLIPS, fixAll(diagnostics));
  expect(text).toBe(
    'flow 1 f\n\nnode a: log {\n  message = "x"\n}\n\nnode b: log {\n  message = "y"\n}\n',
  );
  expect(checkFlow(text, catalog).diagnostics).toEqual([]);
});

test("a field that is missing is offered with an example, and never filled in unasked", () => {
  const text = 'flow 1 f\n\nnode a: http.request {\n  method = "POST"\n}\n';
  const { diagnostics } = checkFlow(text, catalog);
  expect(fixesAt(diagnostics, 0, text.length).map(({ title }) => title)).toEqual(['add url = ""']);
  expect(fixAll(diagnostics)).toEqual([]);
});

test("what is set twice is removed by itself only where both say the same", () => {
  const flow = (second: string): string =>
    `flow 1 f\n\nnode a: transform {\n  value = { a: 1, a: ${second} }\n  @timeout = 1s\n  @timeout = ${second}s\n}\n`;
  const fixed = (text: string): string =>
    applyEdits(text, fixAll(checkFlow(text, catalog).diagnostics));
  expect(fixed(flow("2"))).toBe(flow("2"));
  expect(checkFlow(fixed(flow("1")), catalog).diagnostics).toEqual([]);
});

test("of two fixes that overlap or touch the first is made, and other families have none", () => {
  const finding = (code: string, from: number, to: number, text: string): Diagnostic => {
    const place = (offset: number) => ({ line: 1, column: offset + 1, offset });
    const range = { start: place(from), end: place(to) };
    return {
      code,
      severity: "error",
      message: "",
      range,
      fixes: [{ title: text, edits: [{ range, newText: text }] }],
    };
  };
  const found = [
    finding("FLOW1006", 4, 6, "a"),
    finding("FLOW2001", 5, 7, "b"),
    finding("FLOW3003", 6, 8, "c"),
    finding("FLOW3003", 0, 1, "d"),
    finding("FLOW4010", 9, 9, "e"),
  ];
  expect(fixAll(found)).toEqual([
    { from: 0, to: 1, text: "d" },
    { from: 4, to: 6, text: "a" },
  ]);
});

/** How many errors of syntax a text has, and how many errors at all. */
function errorsIn(text: string): number {
  return parseFlow(text).diagnostics.filter(({ severity }) => severity === "error").length;
}

test("E6: a fix alone, and all of them, add no error", () => {
  const sound = someItems(9).map(({ item }) => item);
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const r = new Random(seed);
    const broken = r.below(sound.length);
    const fault = r.pick([breakOne, slipOne]);
    const items = sound.map((item, at) => (at === broken ? fault(item, r) : item));
    const text = `flow 1 faults\n\n${items.join("\n\n")}\n`;
    const { diagnostics } = checkFlow(text, catalog);
    const before = errorsIn(text);
    const all = applyEdits(text, fixAll(diagnostics));
    expect(errorsIn(all), `${text}\n---\n${all}`).toBeLessThanOrEqual(before);
    for (const { diagnostic, edits, title } of fixesAt(diagnostics, 0, text.length).slice(0, 3)) {
      const fixed = applyEdits(text, edits);
      const shown = `${diagnostic.code} ${title}\n${text}\n---\n${fixed}`;
      expect(errorsIn(fixed), shown).toBeLessThanOrEqual(before);
    }
  }
}, 300_000);

test("E6: in a flow that was valid but for one slip no fix adds a syntax error", () => {
  const errors = (text: string): number =>
    parseFlow(text).diagnostics.filter(
      ({ code, severity }) => severity === "error" && /^FLOW[01]/.test(code),
    ).length;
  const flows = readdirSync(FLOWS).map((name) => {
    const text = readFileSync(new URL(name, FLOWS), "utf8");
    const { items } = new Reading(text, catalog);
    return {
      text,
      // Where the fence of a block string is broken, a fix can only guess where the string ends.
      items: items.filter(({ start, end }) => {
        const item = text.slice(start, end);
        return / = | -> /.test(item) && !item.includes('"""');
      }),
    };
  });
  for (let seed = 0; seed < casesOf(1_500); seed += 1) {
    const r = new Random(seed);
    const { text: sound, items } = r.pick(flows);
    const { start, end } = r.pick(items);
    const item = r.pick([breakOne, slipOne])(sound.slice(start, end), r);
    const text = sound.slice(0, start) + item + sound.slice(end);
    const { diagnostics } = checkFlow(text, catalog);
    const before = errors(text);
    const fixes = fixesAt(diagnostics, 0, text.length).slice(0, 3);
    for (const edits of [fixAll(diagnostics), ...fixes.map((fix) => fix.edits)]) {
      const fixed = applyEdits(text, edits);
      expect(errors(fixed), `${item}\n---\n${fixed}`).toBeLessThanOrEqual(before);
    }
  }
}, 300_000);
