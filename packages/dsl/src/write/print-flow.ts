/** `printFlow` and `formatFlow`: canonical text from a graph, a document or a text. */

import type { Diagnostic, FlowGraph } from "@millrace/contracts";
import { type BlockKind, isBlockKeyword } from "../language/blocks.ts";
import type { BlockItem, EdgeEnd, Item, PrintedItem } from "../language/items.ts";
import { typeText } from "../language/types.ts";
import { type FlowDocument, isDocument } from "../read/document.ts";
import type { Keep } from "../read/mapping-context.ts";
import { limitsOf, type ParseOptions } from "../read/parse-flow.ts";
import { readText } from "../read/read-text.ts";
import { LAYOUT } from "../read/strict-layout.ts";
import { type Comment, NO_COMMENTS } from "../syntax/notes.ts";
import { nameText } from "../syntax/print-expression.ts";
import type { Layout } from "../syntax/scanner.ts";
import { Sections, toOrder } from "./canonical.ts";
import { itemsOf } from "./from-graph.ts";
import { printValue, Writer } from "./print-value.ts";

/**
 * Prints canonical text: a function of the graph, the comments and the author's empty lines, and of nothing else.
 * Throws `DslError` code `graph_invalid`, with the `pointer` of the bad place, for a value that is no `FlowGraph`.
 */
export function printFlow(source: FlowGraph | FlowDocument): string {
  if (!isDocument(source)) return printItems(itemsOf(source as FlowGraph), NO_COMMENTS);
  const { collected, foot } = readText(source.source, source.limits, {
    collect: () => new FilePrinter(),
  });
  return collected.finish(foot);
}

/** Prints the items of a file. */
export function printItems(items: readonly Item[], foot: readonly Comment[]): string {
  const printer = new FilePrinter();
  for (const item of items) printer.add(item);
  return printer.finish(foot);
}

/** Prints items as they come, takes those that are as they are printed, and puts them in order at the end. */
class FilePrinter {
  readonly noValues = true;
  readonly keep: Keep | undefined;
  private readonly sections = new Sections<PrintedItem>("file", (item) =>
    printPiece(item, 0, "file"),
  );

  /** With a layout it takes the text of items that are laid out so; a program that only prints does without. */
  constructor(layout?: Layout) {
    const add: Keep["add"] = (section, item) => this.sections.addTo(section, item);
    this.keep = layout && { layout, add };
  }

  add(item: Item): void {
    this.sections.add(item);
  }

  finish(foot: readonly Comment[]): string {
    const w = new Writer();
    writeSections(w, this.sections, foot, 0);
    return w.finish();
  }
}

/** The text of an item that stands in `place` at an indent of `level`, as canonical text has it. */
export function printPiece(item: Item, level: number, place: BlockKind): PrintedItem {
  const w = new Writer();
  printItem(w, item, level, place);
  const blank = item.lead[0] ? item.lead[0].blank : item.blank;
  return { text: w.text, blank, hasBlock: hasBlock(item) };
}

/** Sections with an empty line between them; in a file also around every item with a block. */
function writeSections(
  w: Writer,
  sections: Sections<PrintedItem>,
  foot: readonly Comment[],
  level: number,
): void {
  let previous: PrintedItem | undefined;
  for (const section of sections.inOrder()) {
    for (const [index, piece] of section.entries()) {
      if (previous) {
        const isParted = level === 0 && (piece.hasBlock || previous.hasBlock);
        if (index === 0 || isParted || piece.blank) w.emptyLine();
      }
      w.lines(piece.text);
      previous = piece;
    }
  }
  const comments = [...sections.behind, ...foot];
  if (level === 0 && previous?.hasBlock && comments[0] && !comments[0].blank) w.emptyLine();
  w.comments(comments, level, previous === undefined);
}

/** Whether an item prints braces. */
export function hasBlock(item: Item): boolean {
  return item.kind === "block" && ((item.items ?? []).length > 0 || item.foot.length > 0);
}

/** Prints an item with its comments. */
function printItem(w: Writer, item: Item, level: number, place: BlockKind): void {
  w.comments(item.lead, level, true);
  if (item.lead.length > 0 && item.blank) w.emptyLine();
  w.line(level);
  if (item.kind === "attr") {
    w.write(`${item.policy ? "@" : ""}${nameText(item.name)} = `);
    printValue(w, item.value, level);
  } else if (item.kind === "edge") {
    const [from, to] = item.ends;
    w.write(`${from ? endText(from) : ""} -> ${to ? endText(to) : ""}`);
    if (item.meta) {
      w.write(" ");
      printValue(w, item.meta, level);
    }
  } else printBlock(w, item, level, place);
  w.trailingComment(item.trailingComment);
}

function endText(end: EdgeEnd): string {
  return end.port === undefined
    ? nameText(end.node)
    : `${nameText(end.node)}.${nameText(end.port)}`;
}

function printBlock(w: Writer, item: BlockItem, level: number, place: BlockKind): void {
  w.write(headText(item, place));
  if (item.value) {
    w.write(" = ");
    printValue(w, item.value, level);
  }
  if (!hasBlock(item)) {
    // Without its braces, what is no block of the language could not be read again.
    if (item.items && !isBlockKeyword(item.keyword)) w.write(" {}");
    return;
  }
  w.write(" {");
  const items = item.items ?? [];
  if (item.keyword === "body") {
    const sections = new Sections<PrintedItem>("body", (inner) =>
      printPiece(inner, level + 1, "body"),
    );
    for (const inner of items) sections.add(inner);
    writeSections(w, sections, item.foot, level + 1);
  } else {
    const inside: BlockKind = isBlockKeyword(item.keyword) ? item.keyword : "layout";
    const ordered = isBlockKeyword(item.keyword) ? toOrder(items, inside) : items;
    for (const [index, inner] of ordered.entries()) {
      const blank = inner.lead[0] ? inner.lead[0].blank : inner.blank;
      if (blank && index > 0) w.emptyLine();
      printItem(w, inner, level + 1, inside);
    }
    w.comments(item.foot, level + 1, ordered.length === 0);
  }
  w.line(level);
  w.write("}");
}

function headText(item: BlockItem, place: BlockKind): string {
  let text = nameText(item.keyword);
  const isFlow = item.keyword === "flow" && place === "file";
  const labels = isFlow ? item.labels.slice(-1) : item.labels;
  if (isFlow) text += " 1";
  for (const label of labels) {
    if (isFlow && label.digits && item.labels.length === 1) continue;
    text += ` ${label.digits && !isFlow && !isBlockKeyword(item.keyword) ? label.text : nameText(label.text)}`;
  }
  return item.type ? `${text}: ${typeText(item.type)}` : text;
}

/** Result of `formatFlow`. */
export interface FormatResult {
  readonly text: string;
  /** Whether `text` differs from what was given. */
  readonly changed: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Formats a flow. Comments stay; the graph stays the same. Text with errors of the families 0 and 1 comes back as it was,
 * because what could not be read would be lost, and so does one with a call of what is no name. Throws `TypeError`
 * for what is no text and for an unknown option, and never for a text.
 */
export function formatFlow(source: string, options: ParseOptions = {}): FormatResult {
  if (typeof source !== "string") throw new TypeError("formatFlow takes the text of a flow");
  const { report, collected, foot } = readText(source, limitsOf(options, "formatFlow"), {
    collect: () => new FilePrinter(LAYOUT),
  });
  const diagnostics = report.diagnostics(source);
  const text = diagnostics.some(hidesText) ? source : collected.finish(foot);
  return { text, changed: text !== source, diagnostics };
}

/** Whether something could not be read; a call that is read as another one has a fix. */
function hidesText({ code, severity, fixes }: Diagnostic): boolean {
  return severity === "error" && (/^FLOW[01]/.test(code) || (code === "FLOW5003" && !fixes));
}
