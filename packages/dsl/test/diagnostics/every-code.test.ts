/**
 * Every code in every form: the complete diagnostic, and each of its fixes applied, after which it is gone and nothing new is
 * wrong. The cases are the wrong examples of the explanations and those of `cases.txt`; what is said of them is in `every-code.txt`.
 */
import { readFileSync } from "node:fs";
import {
  DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  type FlowCatalog,
  type ParseOptions,
  parseFlow,
  validateFlow,
} from "@millrace/dsl";
import { EXPLANATIONS } from "@millrace/dsl/explain";
import { expect, test } from "vitest";
import { catalog, catalogOf } from "../fixtures/catalog.ts";
import { rangeText } from "../read/report.ts";

interface Case {
  readonly code: DiagnosticCode;
  readonly says: string;
  readonly text: string | Uint8Array;
  readonly options?: ParseOptions;
  readonly known?: FlowCatalog;
}

const log = catalog.entry("log");
if (!log) throw new Error("the catalog has no log");

/** Texts of the codes whose explanation says in words what a short text cannot show. */
const SPECIAL: { readonly [code: string]: Omit<Case, "code" | "says"> } = {
  FLOW0001: { text: new Uint8Array([...new TextEncoder().encode("flow 1 x\n# "), 0xe9, 10]) },
  FLOW0004: { text: "flow 1 x\n", options: { maxLength: 5 } },
  FLOW1014: {
    text: `flow 1 x\n\nnode a: log {\n  message = ${"[".repeat(201)}${"]".repeat(201)}\n}\n`,
  },
  FLOW1099: { text: "flow 1 x\n= 1\n= 2\n", options: { maxErrors: 1 } },
  FLOW3009: {
    text: 'flow 1 x\n\nnode a: log {\n  message = "late"\n}\n',
    known: {
      ...catalog,
      entry: () => ({ ...log, deprecated: "use `note`" }),
      types: () => ["log"],
    },
  },
};

const CODES = Object.keys(DIAGNOSTICS) as DiagnosticCode[];

/** `=== CODE sentence`, then the text; a character that cannot be seen is written `<U+0007>`. */
const WRITTEN = readFileSync(new URL("cases.txt", import.meta.url), "utf8")
  .split(/^=== /m)
  .slice(1)
  .map((part): Case => {
    const [, code, says = "", text = ""] = /^(FLOW\d+) (.*)\n([\s\S]*)$/.exec(part) ?? [];
    const seen = text.replace(/<U\+([0-9A-F]{4})>/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return { code: code as DiagnosticCode, says, text: whole(seen) };
  });

const CASES = CODES.flatMap((code): Case[] => {
  const { wrong, form } = EXPLANATIONS[code];
  const text = form === "whole" ? wrong : whole(wrong);
  const explained = { code, says: "as it is explained", text, ...SPECIAL[code] };
  return [explained, ...WRITTEN.filter((each) => each.code === code)];
});

/** The text with a header, when it has none. */
function whole(text: string): string {
  return /^(?:flow|flwo|node a: join\n\nflow) ?["\w]/.test(text) || text.includes("\nflow 1")
    ? text
    : `flow 1 example\n\n${text}`;
}

const world = catalogOf([], {
  flow: (slug) => (slug === "load-rows" ? { inputs: [], outputs: [], flows: [] } : undefined),
});

function found(
  { code, options, known = world }: Case,
  text: string | Uint8Array,
): readonly Diagnostic[] {
  const { graph, document, diagnostics } = parseFlow(text, options);
  const more = validateFlow(graph, known, { document, lint: code.startsWith("FLOW9") });
  return [...diagnostics, ...more];
}

test("each is said completely", async () => {
  const said = CASES.map((each) => {
    const all = found(each, each.text);
    const others = all.filter(({ code }) => code !== each.code).map(({ code }) => code);
    const rows = all.filter(({ code }) => code === each.code).map(rowsOf);
    if (others.length > 0) rows.push(`beside ${others.join(" ")}`);
    return `=== ${each.code} ${each.says}\n${rows.join("\n")}\n`;
  });
  await expect(said.join("")).toMatchFileSnapshot("every-code.txt");
});

function rowsOf({ severity, range, pointer, message, hint, related, fixes }: Diagnostic): string {
  const at = range ? ` ${rangeText(range)}` : "";
  const rows = [`${severity}${at}${pointer === undefined ? "" : ` ${pointer || "/"}`}: ${message}`];
  if (hint !== undefined) rows.push(`  hint: ${hint}`);
  for (const each of related ?? []) rows.push(`  ${rangeText(each.range)}: ${each.message}`);
  for (const { title, edits } of fixes ?? []) {
    const texts = edits.map((edit) => `${rangeText(edit.range)} ${JSON.stringify(edit.newText)}`);
    rows.push(`  fix: ${title}: ${texts.join(", ")}`);
  }
  return rows.join("\n");
}

const errorsOf = (list: readonly Diagnostic[]): string[] =>
  list.filter(({ severity }) => severity === "error").map(({ code }) => code);

test.each(CASES)("$code is gone after each of its fixes: $says", (each) => {
  const { code, text } = each;
  const before = found(each, text);
  const own = before.filter((one) => one.code === code);
  const { severity, severities = [severity] } = DIAGNOSTICS[code] as {
    severity: string;
    severities?: readonly string[];
  };
  expect(own.length).toBeGreaterThan(0);
  for (const one of own) expect(one.severity).toBeOneOf([...severities]);
  for (const { edits } of own.flatMap(({ fixes = [] }) => fixes)) {
    const mended = [...edits]
      .sort((a, b) => b.range.start.offset - a.range.start.offset)
      .reduce(
        (all, { range, newText }) =>
          all.slice(0, range.start.offset) + newText + all.slice(range.end.offset),
        text as string,
      );
    const after = found(each, mended);
    expect(after.filter((one) => one.code === code).length, mended).toBeLessThan(own.length);
    expect(errorsOf(before), mended).toEqual(expect.arrayContaining(errorsOf(after)));
  }
});

test("every severity of a code has a case", () => {
  const severities = (code: DiagnosticCode): string[] => {
    const { severity, severities: several = [severity] } = DIAGNOSTICS[code];
    return [...several].sort();
  };
  const seen = (code: DiagnosticCode): string[] => {
    const own = CASES.filter((each) => each.code === code);
    const all = own.flatMap((each) => found(each, each.text).filter((one) => one.code === code));
    return [...new Set(all.map(({ severity }) => severity))].sort();
  };
  expect(CODES.map((code) => [code, seen(code)])).toEqual(
    CODES.map((code) => [code, severities(code)]),
  );
});
