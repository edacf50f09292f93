/** Findings: their data, their collection, and their conversion to diagnostics with lines and columns. */

import type { Diagnostic, Position, Range, Severity } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";
import { type DiagnosticCode, type DiagnosticRule, fillText, type Parts } from "./table.ts";

/** A change of a text, by offsets. */
export interface TextFix {
  readonly title: string;
  readonly edits: readonly (Span & { readonly text: string })[];
  /** The text is a guess, such as a known name with a similar spelling. */
  readonly uncertain?: true | undefined;
}

/** Details of a finding beside its code and span. `message` and `hint` replace the table's; `hint: null` omits it. */
export interface Details {
  readonly parts?: Parts | undefined;
  readonly message?: string | undefined;
  readonly hint?: string | null | undefined;
  readonly severity?: Severity | undefined;
  /** JSON Pointer into the graph. */
  readonly pointer?: string | undefined;
  /** Replacement of the found text, perhaps with a title; "" removes it. */
  readonly fix?: TextFix | string | readonly [title: string, text: string] | undefined;
  readonly related?: (Span & { readonly message: string }) | undefined;
}

/** One finding. */
export interface Finding extends Details, Span {
  readonly code: DiagnosticCode;
}

/** Collects findings; the same code at the same place with the same texts counts once. */
export class DiagnosticBag {
  readonly found: Finding[] = [];
  #known: Set<string> | undefined;

  add(code: DiagnosticCode, { start, end }: Span, details: Details = {}): void {
    const { pointer, parts, message } = details;
    const key = JSON.stringify([code, start, end, pointer, parts, message]);
    this.#known ??= new Set();
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.found.push({ ...details, code, start, end });
  }
}

/** The order of diagnostics: by offset, then code. */
export function byPlace(a: Finding, b: Finding): number {
  return a.start - b.start || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0);
}

function textFix({ fix, start, end }: Finding): TextFix | undefined {
  if (fix === undefined || "edits" in Object(fix)) return fix as TextFix | undefined;
  const [title, text] =
    typeof fix === "string"
      ? [fix === "" ? "remove it" : `write ${fix}`, fix]
      : (fix as readonly [string, string]);
  return replacement(title, start, end, text);
}

/** The fix of what is set a second time: it is removed. Which of two values was meant nobody knows. */
export function removal(
  source: string,
  { twin, first, end = twin.end }: { twin: Span; first: Span; end?: number },
): TextFix {
  const isSame = source.slice(twin.start, twin.end) === source.slice(first.start, first.end);
  return { ...replacement("remove it", twin.start, end, ""), ...(!isSame && { uncertain: true }) };
}

/** A fix that replaces one stretch of the text. */
export function replacement(title: string, start: number, end: number, text: string): TextFix {
  return { title, edits: [{ start, end, text }] };
}

/** A fix that replaces a span; none where the span is not known. */
export function replacing(title: string, at: Span | undefined, text: string): TextFix | undefined {
  return at && replacement(title, at.start, at.end, text);
}

/** A fix that writes the name that was meant; none when the name or its span is not known. `text`: its spelling there. */
export function writing(
  name: string | undefined,
  at: Span | undefined,
  text: string | undefined = name,
): TextFix | undefined {
  return name === undefined || text === undefined
    ? undefined
    : replacing(`write ${name}`, at, text);
}

/** A finding as a diagnostic. Without `toRange` there is no text, so range and fixes are omitted. */
export function toDiagnostic(
  finding: Finding,
  rules: { readonly [code: string]: DiagnosticRule },
  toRange?: (start: number, end: number) => Range,
): Diagnostic {
  const { code, start, end, parts = {}, message, hint, severity, pointer, related } = finding;
  const fix = toRange && textFix(finding);
  const rule = rules[code] as DiagnosticRule;
  const advice = hint === null ? undefined : (hint ?? (rule.hint && fillText(rule.hint, parts)));
  // A hint with unknown parts is omitted.
  const isWhole = advice !== undefined && !advice.includes("{near}") && !advice.includes("{list}");
  return {
    code,
    severity: severity ?? rule.severity,
    message: message ?? fillText(rule.message, parts),
    ...(pointer !== undefined && { pointer }),
    ...(toRange && { range: toRange(start, end) }),
    ...(isWhole && { hint: advice }),
    ...(toRange &&
      related && {
        related: [{ range: toRange(related.start, related.end), message: related.message }],
      }),
    ...(toRange && fix && { fixes: [publicFix(fix, toRange)] }),
  };
}

function publicFix(
  { title, edits, uncertain }: TextFix,
  toRange: (start: number, end: number) => Range,
): NonNullable<Diagnostic["fixes"]>[number] {
  return {
    title,
    edits: edits.map(({ start, end, text }) => ({ range: toRange(start, end), newText: text })),
    ...(uncertain && { uncertain }),
  };
}

/** A function that turns offsets of `source` into ranges; the line starts are found once, at the first call. */
export function lineIndex(source: string): (start: number, end: number) => Range {
  let starts: Uint32Array | undefined;
  const position = (offset: number): Position => {
    starts ??= lineStarts(source);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1, offset };
  };
  return (start, end) => ({ start: position(start), end: position(end) });
}

/** Offsets where lines start; counted first, because a list that grows would take twice the memory. */
function lineStarts(source: string): Uint32Array {
  let count = 1;
  for (let at = lineEnd(source, 0); at !== -1; at = lineEnd(source, at)) count += 1;
  const starts = new Uint32Array(count);
  let line = 1;
  for (let at = lineEnd(source, 0); at !== -1; at = lineEnd(source, at)) {
    starts[line] = at;
    line += 1;
  }
  return starts;
}

/** The offset behind the next line end, -1 when there is none. */
function lineEnd(source: string, from: number): number {
  for (let at = from; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === 10 || (code === 13 && source.charCodeAt(at + 1) !== 10)) return at + 1;
  }
  return -1;
}
