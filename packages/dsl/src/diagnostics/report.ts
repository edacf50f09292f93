/**
 * Collects what is wrong with a text. Offsets only; lines and columns are counted once, at the end, from the offsets.
 *   One error per offset.
 *   After `maxErrors` errors one more, FLOW1099, says so, and whoever asks `full` stops.
 */
import type { Diagnostic, Range } from "@millrace/contracts";
import { lineIndex } from "./lines.ts";
import { DIAGNOSTICS, type DiagnosticCode, fillText } from "./table.ts";

/** Slips past this number are still read as meant, but no longer listed: a file of `;` is not a list of a million rows. */
const MAX_NOTICES = 1000;

/** A change of text by offsets. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What a report may carry beside its code and place. `message` and `hint` replace the table's; `hint: null` leaves it out. */
export interface Details {
  readonly parts?: { readonly [name: string]: string | number };
  readonly message?: string;
  readonly hint?: string | null;
  readonly severity?: Diagnostic["severity"];
  readonly pointer?: string;
  readonly fix?: { readonly title: string; readonly edits: readonly Edit[] };
  readonly related?: { readonly start: number; readonly end: number; readonly message: string };
}

/** Offsets into a text, `end` exclusive. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

interface Found extends Details {
  readonly code: DiagnosticCode;
  readonly start: number;
  readonly end: number;
}

const NO_DETAILS: Details = {};

export class Report {
  /** More errors than are wanted: reading stops. */
  full = false;
  /** Text that was not understood, so that nothing of it is in the graph. */
  readonly dropped: Stretch[] = [];
  private readonly found: Found[] = [];
  private readonly errorOffsets = new Set<number>();
  private readonly maxErrors: number;
  private notices = 0;

  constructor(maxErrors: number) {
    this.maxErrors = maxErrors;
  }

  /** Notes one finding at `[start, end)`. */
  add(code: DiagnosticCode, start: number, end: number, details: Details = NO_DETAILS): void {
    if (this.full) return;
    const severity = details.severity ?? DIAGNOSTICS[code].severity;
    if (severity === "error") {
      if (this.errorOffsets.has(start)) return;
      this.errorOffsets.add(start);
      if (this.errorOffsets.size > this.maxErrors) {
        this.full = true;
        this.found.push({ code: "FLOW1099", start, end, parts: { limit: this.maxErrors } });
        this.dropped.push({ start, end: Number.POSITIVE_INFINITY });
        return;
      }
    } else if (++this.notices > MAX_NOTICES) return;
    this.found.push({ code, start, end, ...details });
  }

  /** Whether another warning or info would still be listed. */
  get takesNotices(): boolean {
    return this.notices < MAX_NOTICES;
  }

  /** How many findings there are, as a mark for `moveBack`. */
  get count(): number {
    return this.found.length;
  }

  get errorCount(): number {
    return this.errorOffsets.size;
  }

  /**
   * What was found from `offset` on since `mark` came of a bracket that was not closed before: one error at `to` says so
   * instead.
   */
  moveBack(mark: number, offset: number, to: number): void {
    const later = this.found.slice(mark).filter((found) => found.start >= offset);
    if (later.length === 0) return;
    const what = later.at(-1)?.parts?.["what"] ?? "a closing bracket";
    for (const found of later) {
      this.found.splice(this.found.lastIndexOf(found), 1);
      this.errorOffsets.delete(found.start);
    }
    this.add("FLOW1006", to, to, { parts: { what, found: "line end" } });
  }

  /** Where errors are. */
  get errors(): Stretch[] {
    return this.found.filter(({ start }) => this.errorOffsets.has(start));
  }

  /** Whether any error was found. */
  get hasErrors(): boolean {
    return this.errorOffsets.size > 0;
  }

  /** Everything found, by offset, then code. */
  diagnostics(source: string): Diagnostic[] {
    if (this.found.length === 0) return [];
    this.found.sort(
      (a, b) => a.start - b.start || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0),
    );
    const range = lineIndex(source);
    return this.found.map((found) => toDiagnostic(found, range));
  }
}

function toDiagnostic(found: Found, range: (start: number, end: number) => Range): Diagnostic {
  const rule = DIAGNOSTICS[found.code];
  const parts = found.parts ?? {};
  const hint = found.hint === null ? undefined : (found.hint ?? fillHint(rule.hint, parts));
  const { fix, related } = found;
  return {
    code: found.code,
    severity: found.severity ?? rule.severity,
    message: found.message ?? fillText(rule.message, parts),
    ...(found.pointer !== undefined && { pointer: found.pointer }),
    range: range(found.start, found.end),
    ...(hint !== undefined && { hint }),
    ...(related && {
      related: [{ range: range(related.start, related.end), message: related.message }],
    }),
    ...(fix && {
      fixes: [
        {
          title: fix.title,
          edits: fix.edits.map((edit) => ({
            range: range(edit.start, edit.end),
            newText: edit.text,
          })),
        },
      ],
    }),
  };
}

/** A hint whose parts are all known; "did you mean {near}?" without a near name is no hint. */
function fillHint(
  hint: string | undefined,
  parts: { readonly [name: string]: string | number },
): string | undefined {
  if (hint === undefined) return undefined;
  const text = fillText(hint, parts);
  return text.includes("{near}") ? undefined : text;
}
