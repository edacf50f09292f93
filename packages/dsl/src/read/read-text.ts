/**
 * Reads a text once: each item of the file goes into the graph as soon as it is read, and is kept only on request.
 *   R1  a second pass, guided by indentation, only when the braces do not match, and at most one.
 *   R2  where the graph alone is wanted, canonical items are read straight into it (`strict.ts`), and so are those that are as
 *       they are printed where the printed text is wanted.
 */
import type { FlowGraph } from "@millrace/contracts";
import type { Report } from "../diagnostics/report.ts";
import type { Item } from "../language/items.ts";
import { resultOf } from "../steps.ts";
import { FAIL, STOP } from "../syntax/cursor.ts";
import { type Comment, NO_COMMENTS } from "../syntax/notes.ts";
import { Parser } from "../syntax/parse-expression.ts";
import type { ReadLimits } from "./document.ts";
import { GraphBuilder } from "./graph-builder.ts";
import type { Collected } from "./mapping-context.ts";
import { readFileItems } from "./read-items.ts";
import { otherDocument } from "./slips.ts";
import { StrictReader } from "./strict.ts";

/** Options of a reading: the data to collect beside the graph. */
export interface Wanted<C> {
  /** Makes what collects of one pass; a text may be read twice. */
  readonly collect?: () => C;
  /** The first byte that was no UTF-8: its offset, and its place in the text. */
  readonly badByte?: { readonly offset: number; readonly at: number } | undefined;
}

/** Result of one reading. */
export interface Reading<C> {
  readonly graph: FlowGraph;
  readonly report: Report;
  /** Data that the counting pass collected. */
  readonly collected: C;
  /** Comments behind the last item. */
  readonly foot: readonly Comment[];
}

/** How a file of UTF-16 begins when it is read as UTF-8: its mark, and the half of a letter. */
const UTF_16 = /^\uFFFD\uFFFD(\0|.\0)/;

/** Reads a text within its limits. */
export function readText<C extends Collected>(
  text: string,
  limits: ReadLimits,
  wanted: Wanted<C> = {},
): Reading<C> {
  return resultOf(readTextInSteps(text, limits, wanted));
}

/** Reads a text within its limits, an item of the file a step. */
export function* readTextInSteps<C extends Collected>(
  text: string,
  limits: ReadLimits,
  wanted: Wanted<C> = {},
): Generator<void, Reading<C>> {
  if (text.length > limits.maxLength) {
    return unread(text, limits, wanted, (report) =>
      report.add("FLOW0004", 0, text.length, { parts: { limit: limits.maxLength } }),
    );
  }
  // the bad byte is the finding
  if (wanted.badByte && UTF_16.test(text)) return unread(text, limits, wanted, () => {});
  const other = otherDocument(text);
  if (other) {
    const { start, end, ...details } = other;
    return unread(text, limits, wanted, (report) => report.add("FLOW1006", start, end, details));
  }
  const first = yield* readOnce(text, limits, wanted, false);
  if (!first.unclosed && !first.stray) return first;
  const second = yield* readOnce(text, limits, wanted, true);
  // A stray `}` may be all that is wrong with a text whose indentation says nothing.
  const isBetter = first.unclosed || second.report.errorCount <= first.report.errorCount;
  return isBetter ? second : first;
}

/** The reading of a text of which nothing is read: one finding says why. */
function unread<C extends Collected>(
  text: string,
  limits: ReadLimits,
  wanted: Wanted<C>,
  say: (report: Report) => void,
): Reading<C> {
  const reading = resultOf(readOnce("", limits, wanted, false, true));
  reading.report.dropped.push({ start: 0, end: text.length });
  say(reading.report);
  return reading;
}

function* readOnce<C extends Collected>(
  text: string,
  { maxDepth, maxErrors }: ReadLimits,
  { collect, badByte }: Wanted<C>,
  guided: boolean,
  headless = false,
): Generator<void, Reading<C> & { readonly unclosed: boolean; readonly stray: boolean }> {
  const collected = collect?.() ?? ({} as C);
  const s = new Parser(text, { maxDepth, maxErrors, guided });
  const builder = new GraphBuilder(text, s.report, collected);
  const { keep } = collected;
  const isPlain = !guided && !s.hasControl && text.endsWith("\n");
  const isWanted = keep ? !s.hasCr && !text.includes("\t") : !collect;
  const strict = isPlain && isWanted ? new StrictReader(s, builder, keep) : undefined;
  let foot: readonly Comment[] = NO_COMMENTS;
  try {
    if (badByte) {
      const { at, offset } = badByte;
      s.error("FLOW0001", at, at + 1, { parts: { offset } });
    }
    s.start();
    const take = (item: Item): void => {
      collected.add?.(item);
      builder.add(item);
      if (s.report.full) throw STOP;
    };
    foot = yield* readFileItems(s, take, strict);
  } catch (thrown) {
    if (thrown !== STOP && thrown !== FAIL) throw thrown;
  }
  const graph = builder.finish(headless || s.headless);
  const { report, unclosed, stray } = s;
  return { graph, report, collected, foot, unclosed, stray };
}
