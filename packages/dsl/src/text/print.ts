/** `printFlow`: the canonical text of a graph or a document. */
import type { FlowGraph } from "@millrace/contracts";
import { nameText } from "../expression/print.ts";
import { type Sections, toOrder, toSections } from "./canonical.ts";
import { type FlowDocument, isDocument } from "./document.ts";
import { itemsOf } from "./from-graph.ts";
import { printValue } from "./print-value.ts";
import { readText } from "./read.ts";
import { type BlockItem, type Comment, type EdgeEnd, type Item, NO_COMMENTS } from "./tree.ts";
import { typeText } from "./types.ts";
import { isBlockWord, type Place } from "./words.ts";
import { Writer } from "./writer.ts";

/**
 * Prints canonical text: a function of the graph, the comments and the author's empty lines, and of nothing else.
 * Throws `DslError` code `graph_invalid`, with the `pointer` of the bad place, for a value that is no `FlowGraph`.
 */
export function printFlow(source: FlowGraph | FlowDocument): string {
  if (!isDocument(source)) return printItems(itemsOf(source as FlowGraph), NO_COMMENTS);
  const { items, foot } = readText(source.source, source.limits, { items: true });
  return printItems(items, foot);
}

/** Prints the items of a file. */
export function printItems(items: readonly Item[], foot: readonly Comment[]): string {
  const w = new Writer();
  printSections(w, toSections(items, foot, "file"), 0);
  return w.finish();
}

/** Sections with an empty line between them; in a file also around every item with a block. */
function printSections(w: Writer, { sections, foot }: Sections, level: number): void {
  let previous: Item | undefined;
  for (const section of sections) {
    for (const [index, item] of section.entries()) {
      const parted = index === 0 || (level === 0 && (hasBlock(item) || hasBlock(previous)));
      printItem(w, item, level, level === 0 ? "file" : "body", previous ? parted : undefined);
      previous = item;
    }
  }
  if (level === 0 && hasBlock(previous) && foot[0] && !foot[0].blank) w.emptyLine();
  w.comments(foot, level, previous === undefined);
}

/** Whether an item prints braces. */
function hasBlock(item: Item | undefined): boolean {
  return item?.kind === "block" && ((item.items ?? []).length > 0 || item.foot.length > 0);
}

/** Prints an item; `parted`: whether an empty line must stand before it, undefined at the start of a block. */
function printItem(
  w: Writer,
  item: Item,
  level: number,
  place: Place,
  parted: boolean | undefined,
): void {
  const { lead } = item;
  const authored = lead[0] ? lead[0].blank : item.blank;
  if (parted || (parted === false && authored)) w.emptyLine();
  w.comments(lead, level, true);
  if (lead.length > 0 && item.blank) w.emptyLine();
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
  w.trail(item.trail);
}

function endText(end: EdgeEnd): string {
  return end.port === undefined
    ? nameText(end.node)
    : `${nameText(end.node)}.${nameText(end.port)}`;
}

function printBlock(w: Writer, item: BlockItem, level: number, place: Place): void {
  w.write(headText(item, place));
  if (item.value) {
    w.write(" = ");
    printValue(w, item.value, level);
  }
  if (!hasBlock(item)) return;
  w.write(" {");
  const items = item.items ?? [];
  if (item.word === "body") printSections(w, toSections(items, item.foot, "body"), level + 1);
  else {
    const inside: Place = isBlockWord(item.word) ? item.word : "layout";
    const ordered = isBlockWord(item.word) ? toOrder(items, inside) : items;
    for (const [index, inner] of ordered.entries()) {
      printItem(w, inner, level + 1, inside, index === 0 ? undefined : false);
    }
    w.comments(item.foot, level + 1, ordered.length === 0);
  }
  w.line(level);
  w.write("}");
}

function headText(item: BlockItem, place: Place): string {
  let text = nameText(item.word);
  const isFlow = item.word === "flow" && place === "file";
  const labels = isFlow ? item.labels.slice(-1) : item.labels;
  if (isFlow) text += " 1";
  for (const label of labels) {
    if (isFlow && label.digits && item.labels.length === 1) continue;
    text += ` ${label.digits && !isFlow && !isBlockWord(item.word) ? label.text : nameText(label.text)}`;
  }
  return item.type ? `${text}: ${typeText(item.type)}` : text;
}
