/** Items into a text and out of it, with nothing else of the text touched. */

import type { BlockKind } from "../../language/blocks.ts";
import type { BlockItem, Item } from "../../language/items.ts";
import type { Span } from "../../syntax/ast.ts";
import { placeOf } from "../../write/canonical.ts";
import { hasBlock, printPiece } from "../../write/print-flow.ts";
import type { TextEdit } from "../types.ts";
import type { Lines } from "./lines.ts";

/** Items of the file, or of a block. */
export interface Holder {
  readonly kind: BlockKind;
  /** Absent: the file. */
  readonly block: BlockItem | undefined;
  readonly items: readonly Item[];
}

/** The holder of the items of a block. */
export function holderOf(block: BlockItem, kind: BlockKind): Holder {
  return { kind, block, items: block.items ?? [] };
}

/** The edits that put a new item at its canonical place, behind those of its kind. */
export function insertion(lines: Lines, holder: Holder, item: Item): readonly TextEdit[] {
  const printed = printPiece(item, 0, holder.kind).text;
  const { items, block, kind } = holder;
  const first = items[0];
  if (!first) return [block ? intoEmpty(lines, block, printed) : atEnd(lines, printed)];
  const rank = placeOf(item, kind);
  let at = items.findLastIndex((other) => placeOf(other, kind) === rank);
  const isNewSection = at === -1;
  if (isNewSection) at = items.findLastIndex((other) => placeOf(other, kind) < rank);
  const anchor = items[at];
  const indent = indentIn(lines, holder);
  const text = lines.laidOut(printed, indent, true);
  const isParted = kind === "file" || kind === "body";
  if (!anchor) return [beforeFirst(lines, first, text, isParted, indent)];
  const next = items[at + 1];
  const isBlock = kind === "file" && hasBlock(item);
  const gapBefore = (isParted && isNewSection) || isBlock || (kind === "file" && hasBlock(anchor));
  const isLast = next === undefined || !isParted || placeOf(next, kind) === rank;
  const gapBehind = !isLast || isBlock || (kind === "file" && next !== undefined && hasBlock(next));
  return [behind(lines, anchor, text, { gapBefore, gapBehind, block })];
}

interface Gaps {
  readonly gapBefore: boolean;
  readonly gapBehind: boolean;
  readonly block: BlockItem | undefined;
}

function behind(
  lines: Lines,
  anchor: Item,
  text: string,
  { gapBefore, gapBehind, block }: Gaps,
): TextEdit {
  const { lineBreak } = lines;
  if (!lines.isLast(anchor.end)) {
    // The `}` of the block stands on the same line.
    const to = lines.blanksBehind(anchor.end);
    const indent = block ? lines.indent(block.start) : "";
    return { from: anchor.end, to, text: `${lineBreak}${text}${lineBreak}${indent}` };
  }
  const at = lines.end(anchor.end);
  const next = lines.next(at);
  const closes = /^[ \t]*\}/.test(lines.text.slice(next, lines.end(next)));
  const gap = gapBehind && !closes && !lines.isBlank(next) ? lineBreak : "";
  return { from: at, to: at, text: `${lineBreak}${gapBefore ? lineBreak : ""}${text}${gap}` };
}

function beforeFirst(
  lines: Lines,
  first: Item,
  text: string,
  isParted: boolean,
  indent: string,
): TextEdit {
  const { lineBreak } = lines;
  const gap = isParted ? lineBreak : "";
  if (!lines.isFirst(first.start)) {
    const from = lines.blanksBefore(first.start);
    return { from, to: first.start, text: `${lineBreak}${text}${lineBreak}${gap}${indent}` };
  }
  const at = lines.paragraph(lines.start(first.start));
  return { from: at, to: at, text: `${text}${lineBreak}${gap}` };
}

function intoEmpty(lines: Lines, block: BlockItem, printed: string): TextEdit {
  const { lineBreak } = lines;
  const around = lines.indent(block.start);
  const text = lines.laidOut(printed, indentInside(around), true);
  if (!block.items) {
    const made = ` {${lineBreak}${text}${lineBreak}${around}}`;
    return { from: block.end, to: block.end, text: made };
  }
  const close = block.end - 1;
  if (lines.isFirst(close)) {
    const at = lines.start(close);
    return { from: at, to: at, text: text + lineBreak };
  }
  const from = lines.blanksBefore(close);
  return { from, to: close, text: `${lineBreak}${text}${lineBreak}${around}` };
}

/** At the end of a file without items. */
function atEnd(lines: Lines, printed: string): TextEdit {
  const { text, lineBreak } = lines;
  const gap = text === "" || lines.start(text.length) === text.length ? "" : lineBreak;
  const made = `${gap}${lines.laidOut(printed, "", true)}${lineBreak}`;
  return { from: text.length, to: text.length, text: made };
}

/** The indent of the items of a holder: that of the first that starts its line. */
function indentIn(lines: Lines, { items, block }: Holder): string {
  const first = items.find(({ start }) => lines.isFirst(start));
  if (first) return lines.indent(first.start);
  return block ? indentInside(lines.indent(block.start)) : "";
}

function indentInside(around: string): string {
  return around + (around.startsWith("\t") ? "\t" : "  ");
}

/**
 * The edits that take items away, each with the comments on its line and directly above it. Comments that an empty line parts from
 * it stay. Of the empty lines around one run stays.
 */
export function removal(lines: Lines, items: readonly Item[]): readonly TextEdit[] {
  const edits: TextEdit[] = [];
  const whole: Span[] = [];
  for (const { start, end } of items) {
    const isFirst = lines.isFirst(start);
    const isLast = lines.isLast(end);
    const from = isFirst ? lines.paragraph(lines.start(start)) : lines.blanksBefore(start);
    if (isFirst && isLast) whole.push({ start: from, end: lines.next(lines.end(end)) });
    else if (isFirst) {
      const indent = lines.indent(start);
      edits.push({ from, to: lines.blanksBehind(end), text: indent });
    } else edits.push({ from, to: isLast ? lines.end(end) : end, text: "" });
  }
  for (const { start, end } of merged(lines, whole)) {
    const behind = lines.text.slice(end, lines.end(end));
    const isParted = lines.isBlank(end) || /^[ \t]*\}/.test(behind);
    edits.push({ from: isParted ? lines.gap(start) : start, to: end, text: "" });
  }
  return edits;
}

/** Stretches of whole lines, those between which only empty lines stand as one. */
function merged(lines: Lines, spans: readonly Span[]): readonly Span[] {
  const found: { start: number; end: number }[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    const last = found.at(-1);
    if (last && lines.text.slice(last.end, span.start).trim() === "") last.end = span.end;
    else found.push({ ...span });
  }
  return found;
}
