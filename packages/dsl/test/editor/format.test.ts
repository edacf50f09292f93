import { formatFlow } from "@millrace/dsl";
import { applyEdits } from "@millrace/dsl/editor";
import { expect, test } from "vitest";
import { formatEdits } from "../../src/editor/format.ts";
import { decorate, reblank, shuffleItems } from "../laws/decorate.ts";
import { garble } from "../laws/mutate.ts";
import { Sample } from "../laws/sample.ts";
import { SEEDS } from "./seeds.ts";

const NODES = Array.from({ length: 40 }, (_, at) => `node n${at}: log {\n  message = "${at}"\n}\n`);

test("a canonical text needs no edits", () => {
  expect(formatEdits(`flow 1 f\n\n${NODES.join("\n")}`)).toEqual([]);
});

test("only the lines that change are in an edit", () => {
  const text = `flow 1 f\n\n${NODES.join("\n")}`;
  const crooked = text
    .replace('  message = "3"', 'message="3"')
    .replace('  message = "30"', '      message = "30"');
  const edits = formatEdits(crooked);
  expect(edits.map(({ from, to }) => crooked.slice(from, to))).toEqual([
    'message="3"\n',
    '      message = "30"\n',
  ]);
  expect(applyEdits(crooked, edits)).toBe(text);
});

test("a text that moved keeps what stands around it", () => {
  const text = `flow 1 f\n\n${NODES.slice(0, 9).join("\n")}\ninput a: int\n`;
  const edits = formatEdits(text);
  expect(applyEdits(text, edits)).toBe(formatFlow(text).text);
  expect(edits.length).toBe(2);
});

test.each([
  ["an error of syntax", "flow 1 f\nnode a: log {\n"],
  ["an error of text", "flow 1 f\nnode a\u0000: log\n"],
])("a text with %s is left alone", (_, text) => {
  expect(formatEdits(text)).toEqual([]);
});

test("E5: the edits made are the formatted text", () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const sample = new Sample(seed);
    const r = sample.random(20);
    const text = r.pick([
      () => sample.decorated,
      () => reblank(sample.decorated, r),
      () => shuffleItems(decorate(sample.text, r), r),
      () => garble(sample.decorated, r),
    ])();
    expect(applyEdits(text, formatEdits(text))).toBe(formatFlow(text).text);
  }
}, 300_000);

test("lines that repeat at random are compared in time that does not explode", () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `# ${(at * 7919) % 50}`);
  const text = `flow 1 f\n\nnode a:log\n\n${lines.map((line) => `${line}  `).join("\n")}\n`;
  expect(applyEdits(text, formatEdits(text))).toBe(formatFlow(text).text);
});
