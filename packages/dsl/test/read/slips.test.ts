/** Slips of other languages, several in one text: each has its own diagnostic, and its fixes give the text back. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { readFileSync } from "node:fs";
import { type Diagnostic, formatFlow, parseFlow, validateFlow } from "@millrace/dsl";
import fc from "fast-check";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";

const CLEAN = `flow 1 orders {
  title = "Orders"
}

input region: string = "eu"

# what the shop has
node fetch: http.request {
  url = "https://shop.example"
  method = "GET"
  @timeout = 10s
}

node late: condition {
  if = fetch.status == 200 && inputs.region != "us"
}

node mail: transform {
  value = { to: null, open: true, ids: map(fetch.body, o, o.id) }
}

late.true -> mail
`;

/** What is written instead of what, and the code that says so. */
const SLIPS: readonly (readonly [from: string, to: string, code: string])[] = [
  ['title = "Orders"', "title = 'Orders'", "FLOW1102"],
  ['title = "Orders"', "title: \u201cOrders\u201d", "FLOW1108"],
  ["# what", "// what", "FLOW1103"],
  ["# what the shop has", "/* what the shop has */", "FLOW1104"],
  ['method = "GET"', 'method = "GET";', "FLOW1105"],
  ['method = "GET"', 'method = "GET",', "FLOW1015"],
  ['method = "GET"', 'method "GET"', "FLOW1006"],
  ['method = "GET"', 'method := "GET"', "FLOW1108"],
  ['method = "GET"', 'method = "GET', "FLOW1003"],
  ["10s", "10sec", "FLOW1011"],
  ["10s", "10 s", "FLOW1010"],
  ["&&", "and", "FLOW1109"],
  ["==", "===", "FLOW1109"],
  ["!=", "<>", "FLOW1109"],
  ["null", "None", "FLOW1110"],
  ["true, ids", "True, ids", "FLOW1110"],
  ["->", "=>", "FLOW1106"],
  ["->", "\u2192", "FLOW1106"],
  ["->", "-->", "FLOW1106"],
  ["o, o.id", "o => o.id", "FLOW1006"],
  ["fetch.body, o", "${fetch.body}, o", "FLOW1101"],
  ["region: string", "region string", "FLOW1006"],
  ["node late: condition", "node late condition", "FLOW1006"],
  ["node late: condition", 'node "late" : condition', ""],
  ["region: string", "region: str", "FLOW3012"],
  ["@timeout", "@timeuot", "FLOW2012"],
  ["node mail", "nod mail", "FLOW2003"],
];

function applied(text: string, { fixes = [] }: Diagnostic): string {
  return [...(fixes[0]?.edits ?? [])]
    .sort((a, b) => b.range.start.offset - a.range.start.offset)
    .reduce(
      (all, { range, newText }) =>
        all.slice(0, range.start.offset) + newText + all.slice(range.end.offset),
      text,
    );
}

const wraps = ["", "```flow\n", "```\n", "Here is the flow:\n\n```flow\n"];

test("each slip is named, and mending one after the other gives the flow that was meant", () => {
  const chosen = fc.uniqueArray(fc.nat(SLIPS.length - 1), {
    minLength: 1,
    maxLength: 8,
    selector: (at) => SLIPS[at]?.[0].slice(0, 4),
  });
  fc.assert(
    fc.property(chosen, fc.constantFrom(...wraps), fc.boolean(), (picked, wrap, crlf) => {
      const slips = picked.map((at) => SLIPS[at] as (typeof SLIPS)[number]);
      const overlaps = slips.some(([a], i) => slips.some(([b], j) => i !== j && a.includes(b)));
      fc.pre(!overlaps);
      let text = slips.reduce((all, [from, to]) => all.replace(from, () => to), CLEAN);
      if (wrap !== "")
        text = `${wrap}${text}\`\`\`\n${wrap.startsWith("H") ? "\nIt does this.\n" : ""}`;
      if (crlf) text = text.replaceAll("\n", "\r\n");
      const codes = parseFlow(text).diagnostics.map(({ code }) => code);
      const wanted = slips.map(([, , code]) => code).filter((code) => code !== "");
      for (const code of wanted) expect(codes, text).toContain(code);
      expect(codes.length, text).toBeGreaterThanOrEqual(wanted.length);
      for (let round = 0; round < 20; round += 1) {
        const next = parseFlow(text).diagnostics.find((each) => each.fixes);
        if (!next) break;
        text = applied(text, next);
      }
      expect(parseFlow(text).diagnostics, text).toEqual([]);
      expect(parseFlow(text).graph).toEqual(parseFlow(CLEAN).graph);
      expect(formatFlow(text).changed || text === CLEAN).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** Slips that any line may have: what is found, what is written instead, and the code that says so. */
const LINE_SLIPS: readonly (readonly [find: RegExp, write: string, code: string])[] = [
  [/^( +[\w-]+) = (?=["\d[{])/, "$1: ", "FLOW1108"],
  [/ -> /, " => ", "FLOW1106"],
  [/^( *)# /, "$1// ", "FLOW1103"],
  [/ = "(\w+)"$/, " = '$1'", "FLOW1102"],
  [/^([^"#]* = (?:\d+|"\w*"|\w+))$/, "$1;", "FLOW1105"],
  [/^([^"#]*) && /, "$1 and ", "FLOW1109"],
  [/^([^"#]*) == /, "$1 === ", "FLOW1109"],
  [/^([^"#]*[ (])null\b/, "$1None", "FLOW1110"],
  [/^( +)@timeout/, "$1@timeuot", "FLOW2012"],
];

/** The examples that run with nothing around them, without their block strings' lines. */
const EXAMPLES = [
  "01-hello",
  "03-branches-and-joins",
  "06-confirm-refund",
  "09-classify-and-route",
  "13-expressions",
  "14-text-and-names",
  "16-nested-bodies",
].map((name) => {
  const url = new URL(`../fixtures/flows/${name}.flow`, import.meta.url);
  const text = readFileSync(url, "utf8");
  let inside = false;
  const places = text.split("\n").flatMap((line, at) => {
    const fences = line.match(/"{3,}/g)?.length ?? 0;
    const isText = inside || fences > 0;
    if (fences % 2 === 1) inside = !inside;
    return isText ? [] : LINE_SLIPS.flatMap((slip) => (slip[0].test(line) ? [{ at, slip }] : []));
  });
  return { text, places, graph: parseFlow(text).graph };
});

test("every example is itself again when its slips are mended one after the other", () => {
  const chosen = fc.constantFrom(...EXAMPLES).chain((example) =>
    fc.record({
      example: fc.constant(example),
      slips: fc.uniqueArray(fc.constantFrom(...example.places), {
        minLength: 1,
        maxLength: 6,
        selector: ({ at }) => at,
      }),
    }),
  );
  const property = fc.property(chosen, ({ example, slips }) => {
    const lines = example.text.split("\n");
    for (const { at, slip } of slips) lines[at] = (lines[at] ?? "").replace(slip[0], slip[1]);
    let text = lines.join("\n");
    const codes = parseFlow(text).diagnostics.map(({ code }) => code);
    expect(codes.sort(), text).toEqual(slips.map(({ slip }) => slip[2]).sort());
    for (const _ of slips) {
      const next = parseFlow(text).diagnostics.find(({ fixes }) => fixes);
      if (next) text = applied(text, next);
    }
    expect(parseFlow(text).diagnostics, text).toEqual([]);
    expect(parseFlow(text).graph).toEqual(example.graph);
    expect(formatFlow(text).text).toBe(example.text);
  });
  fc.assert(property, { numRuns: 120 });
});

const SECRET = "sk-live-Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa";

/** Places of a text that may hold a secret, by the text of it: `S` in quotes, `N` as a name. */
const PLACES: readonly string[] = [
  "node a: log {\n  message = S~\n}",
  "node a: log {\n  message = [S~, 1]\n}",
  "node a: log {\n  message = { S~: 1 }\n}",
  'node a: log {\n  message = { a: S, "b"~: S }\n}',
  "node a: log {\n  message = f(S~)\n}",
  "node a: log {\n  message = run.N~\n}",
  'node a: log {\n  message = "x${S~}"\n}',
  "node a: log {\n  S~ = 1\n}",
  "node a: log {\n  @retry = { max: S~ }\n}",
  "node a: log {\n  @N~ = S\n}",
  "node S~: log",
  "node N: N~",
  "node a S~: log",
  "input S~: N = S",
  "input a: N~ = S",
  "connection S~: N",
  "schedule S~ {\n  cron = S\n}",
  "output S~: string = S",
  "layout {\n  S~ = S\n}",
  "S~ -> N",
  "N.S -> S.N~",
  "N~",
  "N S~ {\n}",
];

const FAULTS = ["", " x", " =", "]", ")", " }", ' "', "'", " ->", " {", ",,", " § ", " 1.", "\\"];

test("no message quotes what looks like a secret, wherever it stands and whatever stands next to it", () => {
  let found = 0;
  for (const place of PLACES) {
    for (const fault of FAULTS) {
      const words: { readonly [letter: string]: string } = {
        N: SECRET,
        S: `"${SECRET}"`,
        "~": fault,
      };
      const text = `flow 1 x\n\n${place.replace(/[NS~]/g, (letter) => words[letter] ?? "")}\n`;
      const { graph, document, diagnostics } = parseFlow(text);
      const all = [...diagnostics, ...validateFlow(graph, catalog, { document, lint: true })];
      found += all.length;
      const said = all.map(({ message, hint, related, fixes }) => [
        message,
        hint,
        related?.map((each) => each.message),
        fixes?.map(({ title }) => title),
      ]);
      expect(JSON.stringify(said), text).not.toContain(SECRET.slice(8));
    }
  }
  expect(found).toBeGreaterThan(PLACES.length * FAULTS.length);
});
