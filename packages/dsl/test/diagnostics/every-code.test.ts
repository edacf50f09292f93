/** Every code: a text that has it, the complete diagnostic, and the text after its fix, without it and with no new error. */
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

interface Case {
  readonly text: string | Uint8Array;
  readonly options?: ParseOptions;
  readonly known?: FlowCatalog;
}

const log = catalog.entry("log");
if (!log) throw new Error("the catalog has no log");

/** Texts of the codes whose explanation says in words what a short text cannot show. */
const SPECIAL: { readonly [code: string]: Case } = {
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

const world = catalogOf([], {
  flow: (slug) => (slug === "load-rows" ? { inputs: [], outputs: [], flows: [] } : undefined),
});

function caseOf(code: DiagnosticCode): Case {
  const { wrong, form } = EXPLANATIONS[code];
  return SPECIAL[code] ?? { text: form === "whole" ? wrong : `flow 1 example\n\n${wrong}` };
}

function found({ text, options, known = world }: Case, code: string): Diagnostic[] {
  const { graph, document, diagnostics } = parseFlow(text, options);
  const more = validateFlow(graph, known, { document, lint: code.startsWith("FLOW9") });
  return [...diagnostics, ...more];
}

const CODES = Object.keys(DIAGNOSTICS) as DiagnosticCode[];

test("each is said completely", async () => {
  const said = CODES.map((code) => {
    const first = found(caseOf(code), code).find((each) => each.code === code);
    return `${code}: ${JSON.stringify(first, shown, 2)}`;
  });
  await expect(`${said.join("\n")}\n`).toMatchFileSnapshot("every-code.txt");
});

/** Ranges as `line:column-line:column`. */
function shown(key: string, value: unknown): unknown {
  if (key !== "range") return value;
  const { start, end } = value as NonNullable<Diagnostic["range"]>;
  return `${start.line}:${start.column}-${end.line}:${end.column}`;
}

test.each(CODES)("%s is gone after its fix, and nothing new is wrong", (code) => {
  const before = caseOf(code);
  const all = found(before, code);
  const first = all.find((each) => each.code === code);
  expect(first?.severity).toBeOneOf([
    ...(DIAGNOSTICS[code].severities ?? [DIAGNOSTICS[code].severity]),
  ]);
  const edits = first?.fixes?.[0]?.edits;
  if (edits === undefined || typeof before.text !== "string") return;
  const text = [...edits]
    .sort((a, b) => b.range.start.offset - a.range.start.offset)
    .reduce(
      (all, { range, newText }) =>
        all.slice(0, range.start.offset) + newText + all.slice(range.end.offset),
      before.text,
    );
  const errors = (list: readonly Diagnostic[]): string[] =>
    list.filter(({ severity }) => severity === "error").map((each) => each.code);
  const after = found({ ...before, text }, code);
  expect(after.map((each) => each.code)).not.toContain(code);
  expect(errors(all)).toEqual(expect.arrayContaining(errors(after)));
});
