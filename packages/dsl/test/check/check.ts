/** Text in, findings out: what tests of validation share. */
import { type Diagnostic, type FlowCatalog, parseFlow, validateFlow } from "@millrace/dsl";
import { catalog } from "../fixtures/catalog.ts";

const HEADER = "flow 1 example\n\n";

/** The text as a flow: with a header when it has none. */
export function asFlow(text: string): string {
  return /^\s*(?:#.*\s+)*flow /.test(text) ? text : HEADER + text;
}

/** Everything that parser and validator find. */
export function findings(
  text: string,
  known: FlowCatalog = catalog,
  lint = false,
  whole = false,
): Diagnostic[] {
  const { graph, document, diagnostics } = parseFlow(whole ? text : asFlow(text));
  return [...diagnostics, ...validateFlow(graph, known, { document, lint })];
}

/** The codes that are found, in order. */
export function codes(text: string, known?: FlowCatalog): string[] {
  return findings(text, known).map(({ code }) => code);
}

/** All findings of one code, each complete: severity, place, message, hint, related place, and the text that it is about. */
export function report(text: string, code: string, known?: FlowCatalog): string {
  const lint = code.startsWith("FLOW9");
  const found = findings(text, known, lint).filter((it) => it.code === code);
  return found.map((it) => describe(asFlow(text), it)).join("\n");
}

function describe(source: string, finding: Diagnostic): string {
  const { severity, message, hint, range, related, pointer } = finding;
  const lines = [`${severity}: ${message}`];
  if (range) {
    const { start, end } = range;
    const quoted = JSON.stringify(source.slice(start.offset, end.offset).split("\n")[0]);
    lines.push(`at ${start.line}:${start.column} to ${end.line}:${end.column} ${quoted}`);
  }
  if (pointer !== undefined) lines.push(`place ${pointer || "(the flow)"}`);
  if (hint !== undefined) lines.push(`hint: ${hint}`);
  for (const other of related ?? []) {
    lines.push(`related ${other.range.start.line}:${other.range.start.column} ${other.message}`);
  }
  for (const fix of finding.fixes ?? []) lines.push(`fix: ${fix.title}`);
  return lines.join("\n");
}

/** The text after the first fix of a code; throws when there is none, and when the code is still found in the result. */
export function mended(text: string, code: string, known?: FlowCatalog): string {
  const lint = code.startsWith("FLOW9");
  let source = asFlow(text);
  const before = findings(source, known, lint).filter((it) => it.code === code);
  const edits = before[0]?.fixes?.[0]?.edits;
  if (edits === undefined) throw new Error(`${code} has no fix here`);
  for (const { range, newText } of [...edits].sort(
    (a, b) => b.range.start.offset - a.range.start.offset,
  )) {
    source = source.slice(0, range.start.offset) + newText + source.slice(range.end.offset);
  }
  const after = findings(source, known, lint);
  if (after.filter((it) => it.code === code).length >= before.length)
    throw new Error(`${code} is still there`);
  const errors = (list: readonly Diagnostic[]): number =>
    list.filter(({ severity }) => severity === "error").length;
  if (errors(after) > errors(findings(text, known, lint))) throw new Error("the fix adds an error");
  return source.startsWith(HEADER) ? source.slice(HEADER.length) : source;
}
