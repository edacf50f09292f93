/** `parseFlow`: text to graph, document and diagnostics. */
import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { DEFAULT_CURSOR_OPTIONS } from "../syntax/cursor.ts";
import { documentOf, type FlowDocument, type ReadLimits } from "./document.ts";
import { readText } from "./read-text.ts";

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

/** Reads a flow. Never throws: what is wrong is in `diagnostics`. Bytes are decoded as UTF-8. */
export function parseFlow(source: string | Uint8Array, options: ParseOptions = {}): ParseResult {
  const decoded = typeof source === "string" ? { text: source } : decodeUtf8(source);
  const limits = limitsOf(options);
  const { graph, report } = readText(decoded.text, limits, decoded);
  const document = documentOf(decoded.text, limits);
  const diagnostics = report.diagnostics(decoded.text);
  return { graph, document, diagnostics, ok: !report.hasErrors };
}

/** The limits that options ask for. */
export function limitsOf(options: ParseOptions): ReadLimits {
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
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const offset = firstBadByte(bytes);
    const at = decoder.decode(bytes.subarray(0, offset)).length;
    return { text: decoder.decode(bytes), badByte: { offset, at } };
  }
}

/** Offset of the first byte that begins no well-formed sequence (Unicode, table 3-7). */
function firstBadByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let index = 1; index < count; index += 1) {
    const byte = bytes[at + index] ?? 0;
    if (byte < (index === 1 ? low : 0x80) || byte > (index === 1 ? high : 0xbf)) return 0;
  }
  return count;
}
