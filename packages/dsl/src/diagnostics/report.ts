/**
 * The findings of reading a text. Offsets only; lines and columns are counted once, at the end, from the offsets.
 *   One error per offset.
 *   After `maxErrors` errors one more, FLOW1099, says so, and a reader that asks `full` stops.
 */
import type { Diagnostic } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";
import { byPlace, type Details, type Finding, lineIndex, toDiagnostic } from "./bag.ts";
import { READING_RULES, type ReadingCode } from "./table.ts";

/** Slips past this number are still read as meant, but no longer listed: a file of `;` is not a list of a million rows. */
const MAX_NOTICES = 1000;

export class Report {
  /** More errors than are wanted: reading stops. */
  full = false;
  /** Text that was not understood, so that nothing of it is in the graph. */
  readonly dropped: Span[] = [];
  private readonly found: Finding[] = [];
  private errorOffsets: Set<number> | undefined;
  private readonly maxErrors: number;
  private notices = 0;

  constructor(maxErrors: number) {
    this.maxErrors = maxErrors;
  }

  /** Notes one finding. */
  add(code: ReadingCode, start: number, end: number, details?: Details): void {
    if (this.full) return;
    const severity = details?.severity ?? READING_RULES[code].severity;
    if (severity === "error") {
      this.errorOffsets ??= new Set();
      if (this.errorOffsets.has(start)) return;
      this.errorOffsets.add(start);
      if (this.errorOffsets.size > this.maxErrors) {
        this.full = true;
        this.found.push({ code: "FLOW1099", start, end, parts: { limit: this.maxErrors } });
        this.dropped.push({ start, end: Number.POSITIVE_INFINITY });
        return;
      }
    } else if (++this.notices > MAX_NOTICES) return;
    this.found.push({ ...details, code, start, end });
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
    return this.errorOffsets?.size ?? 0;
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
      this.errorOffsets?.delete(found.start);
    }
    this.add("FLOW1006", to, to, { parts: { what, found: "line end" } });
  }

  /** Where errors are. */
  get errors(): Span[] {
    return this.found.filter(({ start }) => this.errorOffsets?.has(start));
  }

  /** Whether any error was found. */
  get hasErrors(): boolean {
    return this.errorCount > 0;
  }

  /** Everything found, by offset, then code. */
  diagnostics(source: string): Diagnostic[] {
    if (this.found.length === 0) return [];
    const toRange = lineIndex(source);
    return this.found.sort(byPlace).map((found) => toDiagnostic(found, READING_RULES, toRange));
  }
}
