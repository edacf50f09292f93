import type { SymbolNode } from "@millrace/dsl/editor";
import { casesOf } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { linksOf } from "../../src/editor/links.ts";
import { foldsOf, selectionsAt, symbolsOf } from "../../src/editor/outline.ts";
import { Reading } from "../../src/editor/reading.ts";
import { catalog } from "../fixtures/catalog.ts";
import { garble } from "../laws/mutate.ts";
import { Sample } from "../laws/sample.ts";

const project = { ...catalog, flowUri: (slug: string) => `file:///flows/${slug}.flow` };

const TEXT = `flow 1 orders {
  title = "Orders"
}

# Where to look,
# and how often.
input base: string = "https://x.test"

connection shop: oauth

node fetch: http.request {
  url = "https://x.test/a"
  headers = {
    accept: "text/plain",
  }
}

node each: map {
  items = [1, 2]
  body {
    node say: log {
      message = """
        # no comment
        # at all
        """
    }
    output = say
  }
}

node call: subflow {
  flow = "refund@2"
}

fetch -> each

output all = each

layout {
  fetch = [120, 40]
}
`;

const reading = new Reading(TEXT, project);

function rows(symbols: readonly SymbolNode[]): unknown[] {
  return symbols.map(({ name, kind, children }) =>
    children.length > 0 ? [`${kind} ${name}`, rows(children)] : `${kind} ${name}`,
  );
}

test("the outline holds declarations, nodes with their bodies, outputs and the layout", () => {
  expect(rows(symbolsOf(reading))).toEqual([
    [
      "flow orders",
      [
        "input base",
        "connection shop",
        "node fetch",
        ["node each", [["body body", ["node say", "output output"]]]],
        "node call",
        "output all",
        "layout layout",
      ],
    ],
  ]);
});

test("a text without a flow has an outline all the same", () => {
  expect(rows(symbolsOf(new Reading("node a: log\n", project)))).toEqual(["node a"]);
});

test("blocks, lists, block strings and paragraphs of comments fold", () => {
  const folds = foldsOf(reading).map(({ kind, start, end }) => {
    const line = (at: number): number => TEXT.slice(0, at).split("\n").length;
    return `${kind} ${line(start)}-${line(end)}`;
  });
  expect(folds).toEqual([
    "block 1-3",
    "comment 5-6",
    "block 11-16",
    "list 13-15",
    "block 18-29",
    "block 20-28",
    "block 21-26",
    "string 22-25",
    "block 31-33",
    "block 39-41",
  ]);
});

describe("a selection grows", () => {
  test.each([
    ["from a name in an expression", "each\n\nlayout", ["each", "output all = each"]],
    [
      "from a word in a string",
      "plain",
      [
        "plain",
        '"text/plain"',
        '{\n    accept: "text/plain",\n  }',
        'headers = {\n    accept: "text/plain",\n  }',
      ],
    ],
    ["from the end of an edge", "fetch ->", ["fetch", "fetch -> each"]],
  ])("%s", (_, place, texts) => {
    const spans = selectionsAt(reading, TEXT.indexOf(place) + 1);
    expect(spans.slice(0, texts.length).map(({ start, end }) => TEXT.slice(start, end))).toEqual(
      texts,
    );
    expect(spans.at(-1)).toEqual({ start: 0, end: TEXT.length });
  });
});

test("flows and addresses are links", () => {
  expect(
    linksOf(reading).map(({ start, end, target }) => [TEXT.slice(start, end), target]),
  ).toEqual([
    ['"https://x.test/a"', "https://x.test/a"],
    ['"refund@2"', "file:///flows/refund.flow"],
  ]);
});

test("whatever the text and the offset, stretches lie in the text, in order, and grow", () => {
  for (let seed = 0; seed < casesOf(1_000); seed += 1) {
    const sample = new Sample(seed);
    if (sample.isLarge) continue;
    const r = sample.random(21);
    const text = r.chance(0.5) ? garble(sample.decorated, r) : sample.decorated;
    const one = new Reading(text, project);
    let last = 0;
    for (const { start, end } of foldsOf(one)) {
      expect(start).toBeGreaterThanOrEqual(last);
      expect(start).toBeLessThan(end);
      expect(end).toBeLessThanOrEqual(text.length);
      last = start;
    }
    const within = ({ whole, selection, children }: SymbolNode): void => {
      expect(selection.start).toBeGreaterThanOrEqual(whole.start);
      expect(selection.end).toBeLessThanOrEqual(whole.end);
      children.forEach(within);
    };
    symbolsOf(one).forEach(within);
    linksOf(one);
    for (const offset of [-1, 0, r.below(text.length + 1), text.length + 9, Number.NaN]) {
      const spans = selectionsAt(one, offset);
      expect(spans.at(-1)).toEqual({ start: 0, end: text.length });
      for (const [index, inner] of spans.entries()) {
        const outer = spans[index + 1];
        if (!outer) continue;
        expect(outer.start <= inner.start && outer.end >= inner.end).toBe(true);
        expect(outer.end - outer.start).toBeGreaterThan(inner.end - inner.start);
      }
    }
  }
}, 300_000);
