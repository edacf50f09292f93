/**
 * Collects what is wrong with one expression. Places are offsets into its source, which is one line: a range has line 1
 * and `column = offset + 1`, and whoever knows where the source stands in a text shifts them.
 */
import type { Diagnostic, Fix, Range } from "@millrace/contracts";
import { DIAGNOSTICS, type DiagnosticCode, fillText } from "../diagnostics.ts";
import type { Place } from "../expression/budget.ts";

/** Text quoted from a source is cut to this many characters. */
const MAX_QUOTED = 60;

/** What a finding carries beside code and place. `message` and `hint` replace those of the table; `hint: null` leaves it out. */
export interface FindingDetails {
  readonly parts?: { readonly [name: string]: string | number };
  readonly message?: string;
  readonly hint?: string | null;
  /** A replacement of the stretch `at` (default: the place itself). */
  readonly fix?: { readonly title: string; readonly newText: string; readonly at?: Place };
}

export class Findings {
  readonly #found = new Map<string, Diagnostic>();

  /** Adds a finding; the same code at the same place counts once. */
  add(code: DiagnosticCode, place: Place, details: FindingDetails = {}): void {
    const rule = DIAGNOSTICS[code];
    const hint = details.hint === undefined ? rule.hint : (details.hint ?? undefined);
    const fixes = details.fix === undefined ? undefined : [toFix(details.fix, place)];
    this.#found.set(`${place.start} ${place.end} ${code}`, {
      code,
      severity: rule.severity,
      message: fillText(details.message ?? rule.message, details.parts ?? {}),
      range: toRange(place),
      ...(hint === undefined ? {} : { hint: fillText(hint, details.parts ?? {}) }),
      ...(fixes === undefined ? {} : { fixes }),
    });
  }

  /** All findings by offset, then code. */
  list(): Diagnostic[] {
    const offset = (finding: Diagnostic): number => finding.range?.start.offset ?? 0;
    return [...this.#found.values()].sort(
      (a, b) => offset(a) - offset(b) || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
    );
  }
}

/** Source text in a message: on one line, cut, control characters escaped. */
export function quoted(text: string): string {
  const shown = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"');
}

function toFix(fix: NonNullable<FindingDetails["fix"]>, place: Place): Fix {
  return {
    title: fix.title,
    edits: [{ range: toRange(fix.at ?? place), newText: fix.newText }],
  };
}

function toRange({ start, end }: Place): Range {
  const position = (offset: number) => ({ line: 1, column: offset + 1, offset });
  return { start: position(start), end: position(end) };
}
