/** `parseFlow`: text to graph, document and diagnostics. */
import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { DEFAULT_CURSOR_OPTIONS } from "../syntax/cursor.ts";
import { documentOf, type FlowDocument, type ReadLimits } from "./document.ts";
import { type Reading, readText } from "./read-text.ts";

/** Limits of one parse. */
export interface ParseOptions {
  /**
   * Deepest nesting of brackets, holes, bodies, prefix operators and arms; default and most: `MAX_JSON_DEPTH`. Deeper:
   * FLOW1014.
   */
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

/** 64 MiB of memory for the text alone; a flow of 100,000 nodes has a third of that. */
const MAX_LENGTH = 33_554_432;

/** The names of the options of reading. */
export const PARSE_OPTIONS: OptionNames<ParseOptions> = {
  maxDepth: true,
  maxErrors: true,
  maxLength: true,
};

/**
 * Reads a flow. What is wrong with it is in `diagnostics`. Bytes are decoded as UTF-8. Throws `TypeError` for what is neither text
 * nor bytes, and for an unknown option.
 */
export function parseFlow(source: string | Uint8Array, options: ParseOptions = {}): ParseResult {
  if (typeof source !== "string" && !ArrayBuffer.isView(source)) {
    throw new TypeError("parseFlow takes the text of a flow, or its bytes");
  }
  const decoded = typeof source === "string" ? { text: source } : decodeUtf8(source);
  const limits = limitsOf(options);
  return parseResultOf(decoded.text, limits, readText(decoded.text, limits, decoded));
}

/** What `parseFlow` answers for a text that was read. */
export function parseResultOf(
  text: string,
  limits: ReadLimits,
  { graph, report }: Pick<Reading<unknown>, "graph" | "report">,
): ParseResult {
  const document = documentOf(text, limits);
  return { graph, document, diagnostics: report.diagnostics(text), ok: !report.hasErrors };
}

/** The limits that options ask for. */
export function limitsOf(options: ParseOptions, caller = "parseFlow"): ReadLimits {
  checkOptions(caller, options, PARSE_OPTIONS);
  return {
    maxDepth: Math.min(options.maxDepth ?? MAX_JSON_DEPTH, MAX_JSON_DEPTH),
    maxErrors: options.maxErrors ?? DEFAULT_CURSOR_OPTIONS.maxErrors,
    maxLength: options.maxLength ?? MAX_LENGTH,
  };
}

interface Decoded {
  readonly text: string;
  /** The first bad byte: its byte offset, and the U+FFFD that stands for it in `text`. */
  readonly badByte?: { readonly offset: number; readonly at: number };
}

/** Decodes strictly; a byte order mark stays, so that offsets are those of the file's text. */
function decodeUtf8(bytes: Uint8Array): Decoded {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  let offset = 0;
  for (let from = 0, at = text.indexOf(BAD); at !== -1; at = text.indexOf(BAD, at + 1)) {
    offset += new TextEncoder().encode(text.slice(from, at)).length;
    from = at;
    // The character may also be written in the text itself.
    const isWritten = [0xef, 0xbf, 0xbd].every((byte, index) => bytes[offset + index] === byte);
    if (!isWritten) return { text, badByte: { offset, at } };
  }
  return { text };
}

/** Stands for what is no UTF-8. */
const BAD = "\ufffd";
