/**
 * Collects what is wrong with one expression. Places are offsets into its source, which is one line: a range has line 1
 * and `column = offset + 1`, and whoever knows where the source stands in a text shifts them.
 */
import type { Diagnostic, Range, Severity } from "@millrace/contracts";
import { DIAGNOSTICS, type DiagnosticCode, fillText } from "../diagnostics/table.ts";
import type { Place } from "../expression/budget.ts";
import { maskSecrets } from "../secret-pattern.ts";

/** Text quoted from a source is cut to this many characters. */
const MAX_QUOTED = 60;

/** What a finding says. `message` and `hint` replace those of the table; `hint: null` leaves it out. */
export interface Wording {
  readonly parts?: { readonly [name: string]: string | number };
  readonly message?: string;
  readonly hint?: string | null;
  readonly severity?: Severity;
}

/** A finding of one expression. */
export interface Finding extends Wording {
  readonly code: DiagnosticCode;
  readonly place: Place;
  /** A replacement of the stretch `at` (default: the place itself). */
  readonly fix?: { readonly title: string; readonly newText: string; readonly at?: Place };
}

/** Findings about what happens to values; of a part that is never evaluated they say nothing. */
const OF_VALUES: ReadonlySet<DiagnosticCode> = new Set([
  ...(["FLOW5002", "FLOW5005", "FLOW5006", "FLOW5007", "FLOW5010", "FLOW5011"] as const),
]);

export class Findings {
  #found: Map<string, Finding> | undefined;
  #unreached = 0;

  /** Looks at a part that is never evaluated. */
  unreached<T>(look: () => T): T {
    this.#unreached += 1;
    try {
      return look();
    } finally {
      this.#unreached -= 1;
    }
  }

  /** Adds a finding; the same code at the same place counts once. */
  add(code: DiagnosticCode, place: Place, details: Omit<Finding, "code" | "place"> = {}): void {
    if (this.#unreached > 0 && OF_VALUES.has(code)) return;
    this.#found ??= new Map();
    this.#found.set(`${place.start} ${place.end} ${code}`, { code, place, ...details });
  }

  /** All findings by offset, then code. */
  list(): readonly Finding[] {
    if (this.#found === undefined) return NO_FINDINGS;
    return [...this.#found.values()].sort(
      (a, b) => a.place.start - b.place.start || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
    );
  }
}

const NO_FINDINGS: readonly Finding[] = [];

/** Severity, message and hint of a finding, filled from the table. A hint whose name is not known is none. */
export function wordingOf(
  code: DiagnosticCode,
  { parts = {}, message, hint, severity }: Wording,
): Pick<Diagnostic, "severity" | "message" | "hint"> {
  const rule = DIAGNOSTICS[code];
  const text = hint === null ? undefined : (hint ?? (rule.hint && fillText(rule.hint, parts)));
  const whole = text !== undefined && !text.includes("{near}") && !text.includes("{list}");
  return {
    severity: severity ?? rule.severity,
    message: message ?? fillText(rule.message, parts),
    ...(whole && { hint: text }),
  };
}

/** A finding as a diagnostic of the expression's source. */
export function toDiagnostic({ code, place, fix, ...wording }: Finding): Diagnostic {
  const { severity, message, hint } = wordingOf(code, wording);
  return {
    code,
    severity,
    message,
    range: toRange(place),
    ...(hint !== undefined && { hint }),
    ...(fix && {
      fixes: [
        { title: fix.title, edits: [{ range: toRange(fix.at ?? place), newText: fix.newText }] },
      ],
    }),
  };
}

/** Source text in a message: on one line, cut, control characters escaped, stars for what looks like a secret. */
export function quoted(text: string): string {
  const masked = maskSecrets(text.slice(0, 1000));
  const shown = text.length > MAX_QUOTED ? `${masked.slice(0, MAX_QUOTED)}…` : masked;
  return JSON.stringify(shown).slice(1, -1).replaceAll('\\"', '"');
}

function toRange({ start, end }: Place): Range {
  const position = (offset: number) => ({ line: 1, column: offset + 1, offset });
  return { start: position(start), end: position(end) };
}
