/** Slips of other languages, several in one text: each has its own diagnostic, and its fixes give the text back. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { type Diagnostic, formatFlow, parseFlow } from "@millrace/dsl";
import fc from "fast-check";
import { expect, test } from "vitest";

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

test("no message quotes a literal that looks like a secret, whatever stands next to it", () => {
  const secret = "sk-live-Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa";
  const places = [
    `v = "${secret}" x`,
    `v = ["a" "${secret}"]`,
    `v "${secret}"`,
    `v = { a "${secret}" }`,
    `v = f("a" "${secret}")`,
    `v = "${secret}`,
    `v = '${secret}' + `,
    `v = ("${secret}"`,
    `"${secret}" = `,
  ];
  for (const place of places) {
    const { diagnostics } = parseFlow(`flow 1 x\n\nnode a: log {\n  ${place}\n}\n`);
    expect(diagnostics.length, place).toBeGreaterThan(0);
    const said = diagnostics.map(({ message, hint, related, fixes }) => [
      message,
      hint,
      related?.map((each) => each.message),
      fixes?.map(({ title }) => title),
    ]);
    expect(JSON.stringify(said), place).not.toContain(secret.slice(8));
  }
});
