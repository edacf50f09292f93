/** Diagnostics as short rows, for tests that compare all of what is said. */
import type { Diagnostic, Range } from "@millrace/contracts";
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

/** `line:column-line:column`. */
export function rangeText({ start, end }: Range): string {
  return `${start.line}:${start.column}-${end.line}:${end.column}`;
}
