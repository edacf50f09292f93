/** Diagnostics as short rows, and the fix of one applied, for tests that compare all of what is said. */
import type { Diagnostic, Fix, Range } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";

/** One diagnostic as a test writes it down; ranges as `line:column-line:column`. */
export interface Row {
  readonly code: string;
  readonly severity: string;
  readonly at: string;
  readonly message: string;
  readonly hint?: string;
  readonly pointer?: string;
  readonly related?: readonly string[];
  readonly fix?: string;
}

/** Everything that `parseFlow` says about a text. */
export function rowsOf(text: string | Uint8Array): Row[] {
  return parseFlow(text).diagnostics.map(toRow);
}

function toRow(found: Diagnostic): Row {
  return {
    code: found.code,
    severity: found.severity,
    at: rangeText(found.range as Range),
    message: found.message,
    ...(found.hint !== undefined && { hint: found.hint }),
    ...(found.pointer !== undefined && { pointer: found.pointer }),
    ...(found.related && {
      related: found.related.map(({ range, message }) => `${rangeText(range)} ${message}`),
    }),
    ...(found.fixes?.[0] && { fix: found.fixes[0].title }),
  };
}

function rangeText({ start, end }: Range): string {
  return `${start.line}:${start.column}-${end.line}:${end.column}`;
}

/** The text with the first fix of its diagnostic of that code applied. */
export function fixed(text: string, code: string): string {
  const found = parseFlow(text).diagnostics.find((diagnostic) => diagnostic.code === code);
  const fix = found?.fixes?.[0];
  return fix ? applyFix(text, fix) : text;
}

/** A text with all edits of a fix. */
function applyFix(text: string, fix: Fix): string {
  return [...fix.edits]
    .sort((a, b) => b.range.start.offset - a.range.start.offset)
    .reduce(
      (all, { range, newText }) =>
        all.slice(0, range.start.offset) + newText + all.slice(range.end.offset),
      text,
    );
}
