/** Collects what validation finds. Texts come from the one table; lines and columns are counted once, at the end. */
import type { Diagnostic, Fix, Range } from "@millrace/contracts";
import { lineIndex } from "../diagnostics/lines.ts";
import type { DiagnosticCode } from "../diagnostics/table.ts";
import { type Wording, wordingOf } from "../types/findings.ts";
import { followUps } from "./follow-ups.ts";
import type { Places, Span } from "./source-map.ts";

/** A change of the text. */
export interface Edit extends Span {
  readonly text: string;
}

/** What a finding carries beside code and place. */
export interface Details extends Wording {
  /** The stretch of text, when it is less than the whole place. */
  readonly span?: Span | undefined;
  /** Another place that belongs to it; shown where the text is known. */
  readonly related?: { readonly pointer: string; readonly message: string };
  readonly fix?: { readonly title: string; readonly edits: readonly Edit[] } | undefined;
}

interface Finding extends Details {
  readonly code: DiagnosticCode;
  readonly pointer: string | undefined;
}

export class Findings {
  readonly places: Places;
  readonly #found: Finding[] = [];
  readonly #known = new Set<string>();

  constructor(places: Places) {
    this.places = places;
  }

  /** Adds a finding; the same code at the same place with the same parts counts once. */
  add(code: DiagnosticCode, pointer: string | undefined, details: Details = {}): void {
    const { span, parts, message } = details;
    const key = JSON.stringify([code, pointer, span?.start, span?.end, parts, message]);
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#found.push({ code, pointer, ...details });
  }

  /** A fix that replaces a place by another text; undefined where the text is not known. */
  replace(title: string, span: Span | undefined, text: string): Details["fix"] {
    if (span === undefined || this.places.source === undefined) return undefined;
    return { title, edits: [{ start: span.start, end: span.end, text }] };
  }

  /** Everything found: by offset, then code; without a text in the order in which it was found. */
  list(): Diagnostic[] {
    const { source } = this.places;
    if (source === undefined) return this.#found.map((found) => this.#diagnostic(found));
    const toRange = lineIndex(source);
    const placed = this.#found.map((found) => {
      const span = found.span ?? this.places.around(found.pointer ?? "") ?? { start: 0, end: 0 };
      return { found, span };
    });
    const isFollowUp = followUps(this.places);
    const own = placed.filter(({ found, span }) => !isFollowUp(found, span));
    own.sort((a, b) => a.span.start - b.span.start || compareText(a.found.code, b.found.code));
    return own.map(({ found, span }) =>
      this.#diagnostic(found, toRange(span.start, span.end), toRange),
    );
  }

  #diagnostic(
    found: Finding,
    range?: Range,
    toRange?: (start: number, end: number) => Range,
  ): Diagnostic {
    const { severity, message, hint } = wordingOf(found.code, found);
    const related = toRange && found.related && this.#related(found.related, toRange);
    const fix = toRange && found.fix && toFix(found.fix, toRange);
    return {
      code: found.code,
      severity,
      message,
      ...(found.pointer !== undefined && { pointer: found.pointer }),
      ...(range && { range }),
      ...(hint !== undefined && { hint }),
      ...(related && { related }),
      ...(fix && { fixes: [fix] }),
    };
  }

  #related(
    { pointer, message }: NonNullable<Details["related"]>,
    toRange: (start: number, end: number) => Range,
  ): (Diagnostic["related"] & object) | undefined {
    const span = this.places.around(pointer);
    return span && [{ range: toRange(span.start, span.end), message }];
  }
}

function toFix(
  fix: NonNullable<Details["fix"]>,
  toRange: (start: number, end: number) => Range,
): Fix {
  return {
    title: fix.title,
    edits: fix.edits.map(({ start, end, text }) => ({ range: toRange(start, end), newText: text })),
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
