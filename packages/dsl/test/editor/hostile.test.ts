/** Laws E1, E2 and E8 on texts that nobody writes, at every offset: nothing throws, and no answer points out of the text or into a character. */
import { readdirSync, readFileSync } from "node:fs";
import { type Analysis, createAnalyser, type Project } from "@millrace/dsl/editor";
import { notFull } from "@millrace/test-support";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";
import { NESTED, REPEATED } from "../laws/hostile.ts";
import { garble } from "../laws/mutate.ts";
import { Random } from "../laws/random.ts";
import { Sample } from "../laws/sample.ts";
import { SEEDS } from "./seeds.ts";

const project: Project = {
  ...catalog,
  entry: (type, version) => catalog.entry(type, version),
  types: () => catalog.types(),
  flowUri: (slug) => `file:///${slug}.flow`,
};
const analyser = createAnalyser(project);

/** Long enough for a piece to stand beside itself in each way. */
const LENGTH = 60;
const TEXTS = 200;

const folder = new URL("../fixtures/flows/", import.meta.url);
const fixtures = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));

/** A stretch of a fixture with hostile pieces in it. */
function spoilt(seed: number): string {
  const r = new Random(seed);
  const whole = r.pick(fixtures);
  const start = whole.lastIndexOf("\n", r.below(whole.length)) + 1;
  let text = `flow 1 x\n\n${whole.slice(start, start + 200 + r.below(200))}`;
  for (let pieces = 1 + r.below(3); pieces > 0; pieces -= 1) {
    const at = r.below(text.length);
    const piece = r.pick(REPEATED).repeat(1 + r.below(3));
    text = text.slice(0, at) + piece + text.slice(at + r.below(4));
  }
  return text;
}

const texts: readonly string[] = [
  ...REPEATED.map((piece) => `flow 1 x\n${piece.repeat(Math.ceil(LENGTH / piece.length))}`),
  ...REPEATED.map(
    (piece) =>
      `flow 1 x\n\nnode a: log {\n  message = ${piece.repeat(Math.ceil(20 / piece.length))}`,
  ),
  ...NESTED.map(([open, close]) => `flow 1 x\n\noutput o = ${open.repeat(9)}a${close.repeat(9)}\n`),
];
const corpus = [
  ...texts,
  ...Array.from({ length: TEXTS - texts.length }, (_, seed) => spoilt(seed)),
];

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Every stretch of every answer. */
function stretchesOf(analysis: Analysis, offset: number): Stretch[] {
  const renamed = analysis.rename(offset, "other");
  const completions = analysis.completions(offset);
  const edits = [
    ...("edits" in renamed ? renamed.edits : []),
    ...completions,
    ...analysis.fixesAt(offset, offset + 1).flatMap((fix) => fix.edits),
  ];
  const target = analysis.definition(offset);
  const signature = analysis.signature(offset);
  for (const [from, to] of signature?.parameters ?? []) {
    expect(signature?.label.slice(from, to)).not.toBe("");
  }
  for (const { documentation } of completions) documentation?.();
  const hover = analysis.hover(offset);
  return [
    ...edits.map(({ from, to }) => ({ start: from, end: to })),
    ...analysis.references(offset),
    ...analysis.selections(offset),
    ...(target === undefined ? [] : [target.name, target.whole]),
    ...(hover === undefined ? [] : [hover]),
    ...[analysis.renamable(offset)?.span ?? { start: 0, end: 0 }],
    ...[analysis.placeOf(analysis.nodeAt(offset) ?? "") ?? { start: 0, end: 0 }],
  ];
}

/** The stretches of answers about the whole text. */
function wholeStretchesOf(analysis: Analysis): Stretch[] {
  const tokens = analysis.tokens();
  return [
    ...analysis
      .diagnostics()
      .flatMap(({ range, related = [] }) =>
        [range, ...related.map((each) => each.range)]
          .filter((each) => each !== undefined)
          .map(({ start, end }) => ({ start: start.offset, end: end.offset })),
      ),
    ...[...analysis.format(), ...analysis.fixAll()].map(({ from, to }) => ({
      start: from,
      end: to,
    })),
    ...analysis.symbols().flatMap(({ whole, selection }) => [whole, selection]),
    ...analysis.folds(),
    ...analysis.links(),
    ...Array.from({ length: tokens.length / 4 }, (_, index) => {
      const start = tokens[4 * index] as number;
      return { start, end: start + (tokens[4 * index + 1] as number) };
    }),
  ];
}

/** Whether an offset parts a pair of surrogates. */
function isInside(text: string, offset: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(offset - 1, offset + 1));
}

function expectInside(text: string, stretches: readonly Stretch[], where: string): void {
  const wrong = stretches.filter(
    ({ start, end }) =>
      !(start >= 0 && start <= end && end <= text.length) ||
      isInside(text, start) ||
      isInside(text, end),
  );
  if (wrong.length > 0) expect(wrong, `${where} in ${JSON.stringify(text)}`).toEqual([]);
}

test("E1, E2: no text and no offset makes an answer throw or point where nothing is", () => {
  const step = notFull === undefined ? 1 : 10;
  for (const [index, text] of corpus.entries()) {
    const analysis = analyser.analyse(text);
    expectInside(text, wholeStretchesOf(analysis), "whole");
    for (let offset = index % step; offset <= text.length; offset += step) {
      if (isInside(text, offset)) stretchesOf(analysis, offset);
      else expectInside(text, stretchesOf(analysis, offset), `at ${offset}`);
    }
  }
}, 1_200_000);

test("E1, E2: nor do random flows with one edit or cut", () => {
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const sample = new Sample(seed);
    if (sample.isLarge) continue;
    const r = sample.random(26);
    const text = garble(sample.decorated, r);
    const analysis = analyser.analyse(text);
    const offset = r.below(text.length + 1);
    expectInside(text, wholeStretchesOf(analysis), "whole");
    if (!isInside(text, offset)) expectInside(text, stretchesOf(analysis, offset), `at ${offset}`);
  }
}, 1_200_000);

test("E8: an analysis with an earlier one answers as one without", () => {
  let previous = analyser.analyse("");
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const sample = new Sample(seed);
    if (sample.isLarge) continue;
    const r = sample.random(27);
    // A text, then the same with an edit.
    for (const text of [sample.text, garble(sample.text, r)]) {
      const alone = analyser.analyse(text);
      previous = analyser.analyse(text, previous);
      const offset = r.below(text.length + 1);
      expect(previous.diagnostics()).toEqual(alone.diagnostics());
      expect(stretchesOf(previous, offset)).toEqual(stretchesOf(alone, offset));
    }
  }
}, 1_200_000);
