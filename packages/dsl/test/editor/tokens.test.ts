import { TOKEN_MODIFIERS, TOKEN_TYPES } from "@millrace/dsl/editor";
import { casesOf } from "@millrace/test-support";
import { expect, test } from "vitest";
import { NameIndex } from "../../src/editor/names.ts";
import { Reading } from "../../src/editor/reading.ts";
import { tokensOf } from "../../src/editor/tokens.ts";
import { catalog } from "../fixtures/catalog.ts";
import { reblank } from "../laws/decorate.ts";
import { garble } from "../laws/mutate.ts";
import { Sample } from "../laws/sample.ts";

const project = {
  ...catalog,
  entry: (type: string, version?: number) => {
    const entry = catalog.entry(type, version);
    return entry && type === "log" ? { ...entry, deprecated: "something else" } : entry;
  },
};

/** The tokens of a text as `text type.modifier`. */
function shown(text: string, from?: number, to?: number): string[] {
  const reading = new Reading(text, project);
  const numbers = tokensOf(reading, new NameIndex(reading), from, to);
  return Array.from({ length: numbers.length / 4 }, (_, at) => {
    const [start = 0, length = 0, type = 0, bits = 0] = numbers.subarray(at * 4, at * 4 + 4);
    const modifiers = TOKEN_MODIFIERS.filter((_, bit) => (bits & (1 << bit)) !== 0);
    return `${text.slice(start, start + length)} ${[TOKEN_TYPES[type], ...modifiers].join(".")}`;
  });
}

const CASES: readonly (readonly [what: string, text: string, tokens: string])[] = [
  ["the head of a flow", "flow 1 f\n", "flow keyword, 1 number"],
  [
    "an input with its type",
    'input "a b": { x: int }[] = []\n',
    'input keyword, "a b" parameter.declaration.readonly, x property, int type',
  ],
  [
    "fields, policies, numbers and functions",
    'node a: http.request {\n  url = upper("x")\n  @timeout = 90s\n}\n',
    "node keyword, a variable.declaration, http.request type, url property, " +
      "upper function, @timeout decorator, 90s number",
  ],
  [
    "names in expressions",
    'input i: int\nnode a: http.request {\n  url = "${inputs.i}${a.status}${nodes["a"]}${run.id}"\n}\n',
    "input keyword, i parameter.declaration.readonly, int type, node keyword, " +
      "a variable.declaration, http.request type, url property, inputs keyword, " +
      'i parameter.readonly, a variable, status property, nodes["a"] variable, ' +
      "run keyword, id property",
  ],
  [
    "locals and variables of macros",
    "node m: map {\n  items = [1].map(x, x)\n  body {\n    output = item\n  }\n}\n",
    "node keyword, m variable.declaration, map type, items property, 1 number, " +
      "map function, x variable.declaration.readonly, x variable.readonly, body keyword, " +
      "output property, item variable.readonly",
  ],
  [
    "edges with their ports",
    "node a: http.request\nnode b: http.request\na.error -> b\n",
    "node keyword, a variable.declaration, http.request type, node keyword, " +
      "b variable.declaration, http.request type, a variable, error enumMember, " +
      "b variable",
  ],
  [
    "a type that is deprecated",
    "node a: log\n",
    "node keyword, a variable.declaration, log type.deprecated",
  ],
  [
    "places of the layout",
    "node a: http.request\nlayout {\n  a = [1, 2]\n}\n",
    "node keyword, a variable.declaration, http.request type, layout keyword, " +
      "a variable, 1 number, 2 number",
  ],
];

test.each(CASES)("%s", (_, text, tokens) => {
  expect(shown(text).join(", ")).toBe(tokens);
});

test("of a stretch the tokens are those that overlap it", () => {
  const text = "flow 1 f\n\nnode a: log\n\nnode b: log\n";
  const all = shown(text);
  expect(shown(text, text.indexOf("b: log"), text.indexOf("b: log") + 1)).toEqual([
    "b variable.declaration",
  ]);
  expect(shown(text, Number.NaN, Number.NaN)).toEqual(all);
  expect(shown(text, -5, 1e9)).toEqual(all);
  expect(shown(text, 1e9, -5)).toEqual([]);
});

test("tokens lie in the text on single lines, by offset, none over another", () => {
  for (let seed = 0; seed < casesOf(1_000); seed += 1) {
    const sample = new Sample(seed);
    if (sample.isLarge) continue;
    const r = sample.random(23);
    const text = r.pick([
      () => sample.decorated,
      () => reblank(sample.decorated, r),
      () => garble(sample.decorated, r),
    ])();
    const reading = new Reading(text, project);
    const names = new NameIndex(reading);
    const numbers = tokensOf(reading, names);
    let done = 0;
    for (let at = 0; at < numbers.length; at += 4) {
      const [start = 0, length = 0, type = 0, bits = 0] = numbers.subarray(at, at + 4);
      expect(start).toBeGreaterThanOrEqual(done);
      expect(length).toBeGreaterThan(0);
      expect(text.slice(start, start + length)).not.toMatch(/[\r\n]/);
      expect(type).toBeLessThan(TOKEN_TYPES.length);
      expect(bits).toBeLessThan(1 << TOKEN_MODIFIERS.length);
      done = start + length;
      expect(done).toBeLessThanOrEqual(text.length);
    }
    const [from, to] = [r.below(text.length + 1), r.below(text.length + 1)].sort((a, b) => a - b);
    const part = tokensOf(reading, names, from, to);
    const expected: number[] = [];
    for (let at = 0; at < numbers.length; at += 4) {
      const [start = 0, length = 0] = numbers.subarray(at, at + 2);
      if (start < (to ?? 0) && start + length > (from ?? 0)) {
        expected.push(...numbers.subarray(at, at + 4));
      }
    }
    expect([...part]).toEqual(expected);
  }
}, 300_000);
