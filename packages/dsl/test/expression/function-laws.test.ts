/** What holds for functions whatever the data, mostly that they agree with the platform. */
import { createHash } from "node:crypto";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { codeOf, evaluate } from "./evaluate.ts";

/** A pattern, and whether it may match nothing. */
type Source = readonly [pattern: string, isEmpty: boolean];

test("what csvFormat writes csvParse reads, whatever the cells; what it marks begins a formula", () => {
  const cell = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'",;\r\n\ufeff =＝1') }),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 4 })),
      fc.constantFrom(",", ";"),
      (rows, s) => {
        const back = evaluate(
          "csvParse(csvFormat(r, { separator: s }), { header: false, separator: s })",
          { r: rows, s },
        );
        const isNumber = (x: unknown): boolean => codeOf("number(x)", { x }) === "no error";
        const written = rows.map((row) =>
          row.map((x) =>
            /^[=+\-@\t\r\n＝＋－＠]/.test(`${x}`) && !isNumber(x) ? `'${x}` : `${x}`,
          ),
        );
        expect(back).toEqual(written);
      },
    ),
  );
});

test("SHA-256 agrees with the platform's for every length around its blocks and for any text", () => {
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  for (let length = 0; length < 200; length += 1) {
    const text = "é".repeat(length >> 1) + "x".repeat(length);
    expect(evaluate("sha256(t)", { t: text })).toBe(digest(text));
  }
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(evaluate("sha256(t)", { t: text })).toBe(digest(text));
    }),
  );
});

test("what is encoded decodes to itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (t) => {
      expect(
        evaluate("base64Decode(base64Encode(t)) == t && uriDecode(uriEncode(t)) == t", { t }),
      ).toBe(true);
      expect(evaluate("base64Encode(t)", { t })).toBe(Buffer.from(t).toString("base64"));
    }),
  );
});

test("text is searched, split and replaced as the platform does, however long the part", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 300 });
  const parts = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 25, maxLength: 60 });
  fc.assert(
    fc.property(texts, parts, fc.array(texts, { maxLength: 4 }), (t, p, between) => {
      const text = [t, ...between].join(p);
      const names = { t: text, p };
      expect(evaluate("contains(t, p)", names)).toBe(text.includes(p));
      expect(evaluate("split(t, p)", names)).toEqual(text.split(p));
      expect(evaluate('replace(t, p, "$&")', names)).toBe(text.replaceAll(p, () => "$&"));
    }),
    { numRuns: 500 },
  );
});

test("patterns match and replace as in ECMAScript, whichever way they may be read", () => {
  const { pattern } = fc.letrec<{ pattern: Source; atom: Source }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      tie("atom"),
      fc
        .tuple(tie("pattern"), tie("pattern"))
        .map(([a, b]) => [a[0] + b[0], a[1] && b[1]] as const),
      fc
        .tuple(tie("pattern"), tie("pattern"))
        .map(([a, b]) => [`(${a[0]}|${b[0]})`, a[1] || b[1]] as const),
      // A repeated part that may match nothing is the one thing that may be read otherwise.
      fc
        .tuple(
          tie("pattern"),
          fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}"),
          fc.constantFrom("", "?"),
        )
        .map(
          ([[of, isEmpty], count, lazy]): Source => [
            `(?:${of}${isEmpty ? "a" : ""})${count}${lazy}`,
            /[*?0]/.test(count),
          ],
        ),
    ),
    atom: fc.oneof(
      fc.constantFrom("a", "b", ".", "[ab]", "\\w", "[^a]").map((of): Source => [of, false]),
      fc.constantFrom("^", "$", "\\b", "(?:)").map((of): Source => [of, true]),
    ),
  }));
  const texts = fc.string({ unit: fc.constantFrom("a", "b", " ", "😀"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, texts, ([p], t) => {
      expect(evaluate("matches(t, p)", { t, p })).toBe(new RegExp(p, "u").test(t));
      expect(evaluate('replaceAll(t, p, "$&")', { t, p })).toBe(
        t.replaceAll(new RegExp(p, "gu"), () => "$&"),
      );
    }),
    { numRuns: casesOf(3_000) },
  );
});

test("sorting is that of a stable sort by code point, null last", () => {
  const key = fc.oneof(
    fc.constant(null),
    fc.string({ unit: fc.constantFrom("a", "\u{1f600}", "\uffff"), maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(key), (list) => {
      const l = list.map((k, i) => ({ k, i }));
      const points = (s: string) => Array.from(s, (c) => c.codePointAt(0) as number);
      const compare = (a: string, b: string) => {
        const [x, y] = [points(a), points(b)];
        const at = x.findIndex((point, i) => point !== y[i]);
        return at < 0 ? x.length - y.length : (x[at] as number) - (y[at] ?? -1);
      };
      const wanted = l.toSorted((a, b) =>
        a.k === null || b.k === null
          ? Number(a.k === null) - Number(b.k === null)
          : compare(a.k, b.k),
      );
      expect(evaluate("sortBy(l, x, x.k)", { l })).toEqual(wanted);
    }),
  );
});

test("data survives json and parseJson, indented or not", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 8 }), (d, n) => {
      expect(evaluate("parseJson(json(d, n)) == d && string(json(d)) == json(d)", { d, n })).toBe(
        true,
      );
    }),
  );
});

test("rounding equals decimal rounding of the spelling", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: 0, max: 6 }),
      (units, scale, digits) => {
        const n = Number(`${units}e-${scale}`);
        const drop = 10 ** Math.max(0, scale - digits);
        const kept = Math.floor((Math.abs(units) * 2 + drop) / (drop * 2)) * Math.sign(units);
        const wanted = scale > digits ? Number(`${kept}e-${digits}`) : n;
        expect(evaluate("round(n, d)", { n, d: digits })).toBe(wanted + 0);
      },
    ),
  );
});

test("times agree with the platform's clock arithmetic", () => {
  const epoch = fc.date({
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(epoch, (at) => {
      const iso = at.toISOString();
      expect(evaluate("epochMs(t)", { t: iso })).toBe(at.getTime());
      expect(evaluate("date(n)", { n: at.getTime() })).toBe(iso);
      expect(evaluate(`dateFormat(t, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")`, { t: iso })).toBe(iso);
    }),
  );
});

const ZONES = Intl.supportedValuesOf("timeZone");

test("times in a zone are those of the platform, and are read back where clocks show them once", () => {
  const epoch = fc.date({
    min: new Date("1950-01-01T00:00:00Z"),
    max: new Date("2100-01-01T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(epoch, fc.constantFrom(...ZONES), (at, z) => {
      const t = new Date(at.getTime() - at.getMilliseconds()).toISOString();
      const options = { timeZone: z, dateStyle: "short", timeStyle: "medium" } as const;
      const shown = new Intl.DateTimeFormat("sv-SE", options).format(at);
      expect(evaluate('dateFormat(t, "yyyy-MM-dd HH:mm:ss", z)', { t, z })).toBe(shown);
      const p = "yyyy-MM-dd'T'HH:mm:ssXXX";
      const exact = evaluate("dateFormat(t, p, z)", { t, p, z });
      expect(evaluate("dateParse(s, p, z)", { s: exact, p, z })).toBe(t);
      expect(evaluate("date(s)", { s: exact })).toBe(t);
      const read = String(evaluate("date(s, z)", { s: shown, z }));
      expect(evaluate('dateFormat(t, "yyyy-MM-dd HH:mm:ss", z)', { t: read, z })).toBe(shown);
      expect(read <= t).toBe(true);
    }),
  );
});
