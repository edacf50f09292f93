/**
 * Reads a text once: each item of the file goes into the graph as soon as it is read, and is kept only on request.
 *   R1  a second pass, guided by indentation, only when the braces do not match, and at most one.
 */
import type { FlowGraph } from "@millrace/contracts";
import type { Report } from "../diagnostics/report.ts";
import type { Marks } from "../language/field-value.ts";
import type { Item } from "../language/items.ts";
import { FAIL, STOP } from "../syntax/cursor.ts";
import { type Comment, NO_COMMENTS } from "../syntax/notes.ts";
import { Parser } from "../syntax/parse-expression.ts";
import type { ReadLimits } from "./document.ts";
import { GraphBuilder } from "./graph-builder.ts";
import { readItems } from "./read-items.ts";
import { otherDocument } from "./slips.ts";

/** Takes the items of one pass, in order. */
export interface Sink {
  add(item: Item): void;
}

/** What is wanted beside the graph. */
export interface Wanted<S extends Sink> {
  /** Makes what takes the items: one for each pass. */
  readonly sink?: () => S;
  /** Only the findings are wanted: values of the graph are left out. */
  readonly noValues?: boolean;
  /** Makes what collects the places of the graph: one for each pass. */
  readonly marks?: () => Marks;
  /** Makes what takes the starts of all that is in the graph: one for each pass. */
  readonly taken?: () => Set<number>;
  /** The first byte that was no UTF-8: its offset, and its place in the text. */
  readonly badByte?: { readonly offset: number; readonly at: number };
}

/** What one reading gives. */
export interface Reading<S extends Sink> {
  readonly graph: FlowGraph;
  readonly report: Report;
  /** The sink of the pass that counts. */
  readonly sink: S | undefined;
  /** Comments behind the last item. */
  readonly foot: readonly Comment[];
  readonly marks: Marks | undefined;
  readonly taken: Set<number> | undefined;
}

/** Reads a text within its limits. */
export function readText<S extends Sink>(
  text: string,
  limits: ReadLimits,
  wanted: Wanted<S> = {},
): Reading<S> {
  if (text.length > limits.maxLength) {
    return unread(text, limits, wanted, (report) =>
      report.add("FLOW0004", 0, text.length, { parts: { limit: limits.maxLength } }),
    );
  }
  const other = otherDocument(text);
  if (other) {
    const { start, end, ...details } = other;
    return unread(text, limits, wanted, (report) => report.add("FLOW1006", start, end, details));
  }
  const first = readOnce(text, limits, wanted, false);
  if (!first.unclosed && !first.stray) return first;
  const second = readOnce(text, limits, wanted, true);
  // A stray `}` may be all that is wrong with a text whose indentation says nothing.
  const isBetter = first.unclosed || second.report.errorCount <= first.report.errorCount;
  return isBetter ? second : first;
}

/** The reading of a text of which nothing is read: one finding says why. */
function unread<S extends Sink>(
  text: string,
  limits: ReadLimits,
  wanted: Wanted<S>,
  say: (report: Report) => void,
): Reading<S> {
  const { report, ...reading } = readOnce("", limits, wanted, false, true);
  report.dropped.push({ start: 0, end: text.length });
  say(report);
  return { ...reading, report };
}

function readOnce<S extends Sink>(
  text: string,
  limits: ReadLimits,
  wanted: Wanted<S>,
  guided: boolean,
  headless = false,
): Reading<S> & { readonly unclosed: boolean; readonly stray: boolean } {
  const { maxDepth, maxErrors } = limits;
  const graphOnly = !wanted.sink && !wanted.marks;
  const s = new Parser(text, { maxDepth, maxErrors, guided, graphOnly });
  const marks = wanted.marks?.();
  const taken = wanted.taken?.();
  const noValues = wanted.noValues ?? false;
  const builder = new GraphBuilder(text, s.report, { marks, taken, noValues });
  const sink = wanted.sink?.();
  let foot: readonly Comment[] = NO_COMMENTS;
  try {
    if (wanted.badByte) {
      const { at, offset } = wanted.badByte;
      s.error("FLOW0001", at, at + 1, { parts: { offset } });
    }
    s.start();
    foot = readItems(s, undefined, (item) => {
      sink?.add(item);
      builder.add(item);
      if (s.report.full) throw STOP;
    });
  } catch (thrown) {
    if (thrown !== STOP && thrown !== FAIL) throw thrown;
  }
  const graph = builder.finish(headless || s.headless);
  const { report, unclosed, stray } = s;
  return { graph, report, sink, foot, marks, taken, unclosed, stray };
}
