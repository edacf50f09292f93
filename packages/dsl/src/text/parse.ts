/** `parseFlow`: text to graph, document and diagnostics. */
import { type Diagnostic, type FlowGraph, MAX_JSON_DEPTH } from "@millrace/contracts";
import { decodeUtf8 } from "./decode.ts";
import { type DocumentData, dataOf, type FlowDocument } from "./document.ts";
import { buildGraph } from "./graph.ts";
import { readItems } from "./items.ts";
import type { Report } from "./report.ts";
import { DEFAULT_SCANNER_OPTIONS, Scanner, STOP } from "./scanner.ts";
import type { Comment, Item } from "./tree.ts";

/** Limits of one parse; each may only be lowered but `maxErrors`. */
export interface ParseOptions {
  /** Deepest nesting of brackets, holes, bodies, prefix operators and arms; default and most: `MAX_JSON_DEPTH`. */
  readonly maxDepth?: number;
  /** Errors after which reading stops with FLOW1099; default 100. */
  readonly maxErrors?: number;
  /** Longest text in UTF-16 units; default 33,554,432. Longer: FLOW0004, and nothing is read. */
  readonly maxLength?: number;
}

/** What `parseFlow` answers. On errors `graph` is everything that could be read; execute it only when `ok`. */
export interface ParseResult {
  readonly graph: FlowGraph;
  readonly document: FlowDocument;
  /** Sorted by offset, then code. */
  readonly diagnostics: readonly Diagnostic[];
  /** No diagnostic is an error. */
  readonly ok: boolean;
}

/** 64 MiB of memory for the text alone; the largest corpus of the tests, 100,000 nodes, has a third of that. */
const MAX_LENGTH = 33_554_432;

/** Reads a flow. Never throws: what is wrong is in `diagnostics`. Bytes are decoded as UTF-8. */
export function parseFlow(source: string | Uint8Array, options: ParseOptions = {}): ParseResult {
  const { text, badByte } = typeof source === "string" ? { text: source } : decodeUtf8(source);
  const maxLength = Math.min(options.maxLength ?? MAX_LENGTH, MAX_LENGTH);
  const { items, foot, headless, report } =
    text.length > maxLength ? tooLong(text, maxLength) : readDocument(text, options);
  if (badByte)
    report.add("FLOW0001", badByte.at, badByte.at + 1, { parts: { offset: badByte.offset } });
  const document: DocumentData = { kind: "flow-document", source: text, items, foot, headless };
  const graph = buildGraph(document, report);
  const diagnostics = report.diagnostics(text);
  return { graph, document: dataOf(document), diagnostics, ok: !report.hasErrors };
}

interface Read {
  readonly items: readonly Item[];
  readonly foot: readonly Comment[];
  readonly headless: boolean;
  readonly report: Report;
}

function tooLong(text: string, limit: number): Read {
  const { report } = new Scanner("");
  report.add("FLOW0004", 0, text.length, { parts: { limit } });
  return { items: [], foot: [], headless: true, report };
}

/** One pass; a second one, guided by indentation, when the braces do not match. */
function readDocument(text: string, options: ParseOptions): Read {
  const maxDepth = Math.min(options.maxDepth ?? MAX_JSON_DEPTH, MAX_JSON_DEPTH);
  const maxErrors = options.maxErrors ?? DEFAULT_SCANNER_OPTIONS.maxErrors;
  const first = readOnce(new Scanner(text, { maxDepth, maxErrors, guided: false }));
  if (!first.unclosed && !first.stray) return first;
  const second = readOnce(new Scanner(text, { maxDepth, maxErrors, guided: true }));
  // A stray `}` may be all that is wrong with a text whose indentation says nothing.
  const isBetter = first.unclosed || second.report.errorCount <= first.report.errorCount;
  return isBetter ? second : first;
}

function readOnce(s: Scanner): Read & { readonly unclosed: boolean; readonly stray: boolean } {
  const items: Item[] = [];
  let foot: readonly Comment[] = [];
  try {
    s.start();
    foot = readItems(s, items, undefined);
  } catch (thrown) {
    if (thrown !== STOP) throw thrown;
  }
  return {
    items,
    foot,
    headless: s.headless,
    report: s.report,
    unclosed: s.unclosed,
    stray: s.stray,
  };
}
