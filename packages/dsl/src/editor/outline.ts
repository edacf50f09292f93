/** The structure of a text: its outline, foldable ranges, and the steps by which a selection grows. */

import {
  type AttrItem,
  type BlockItem,
  blocksOf,
  type Item,
  type TypeNode,
} from "../language/items.ts";
import { typeText } from "../language/types.ts";
import { childrenOf, type Expression, type Span } from "../syntax/ast.ts";
import { isNamePart } from "../syntax/chars.ts";
import { isCollection } from "../syntax/notes.ts";
import { lineEnd } from "../syntax/skip.ts";
import type { Reading } from "./reading.ts";
import type { Fold, SymbolNode } from "./types.ts";

/** The outline: the flow, in it its declarations, nodes, outputs and layout, in nodes their bodies; in the order of the text. */
export function symbolsOf(reading: Reading): readonly SymbolNode[] {
  const [flow] = blocksOf(reading.items, "flow");
  const children = reading.items
    .filter((item) => item !== flow)
    .flatMap((item) => symbolOf(item) ?? []);
  if (!flow) return children;
  const label = flow.labels.findLast(({ digits }) => !digits) ?? flow.labels.at(-1);
  return [
    {
      name: label?.text || flow.keyword,
      kind: "flow",
      whole: { start: 0, end: reading.text.length },
      selection: spanOf(label) ?? { start: flow.start, end: flow.keywordEnd },
      children,
    },
  ];
}

/** Blocks that have a row of their own kind. */
const ROWS: ReadonlySet<string> = new Set(
  "input connection schedule node output layout body".split(" "),
);

/** The row of an item; undefined: it has none. */
function symbolOf(item: Item): SymbolNode | undefined {
  if (item.kind === "attr") return item.name === "output" ? outputOf(item) : undefined;
  if (item.kind === "edge" || !ROWS.has(item.keyword)) return undefined;
  const label = item.labels.at(-1);
  const holds = item.keyword === "node" || item.keyword === "body";
  const inner = holds ? (item.items ?? []) : [];
  const rows = inner.filter(({ kind }) => kind === "block" || item.keyword === "body");
  return {
    name: label?.text || item.keyword,
    ...(item.type && { detail: typeText(item.type) }),
    kind: item.keyword as SymbolNode["kind"],
    whole: { start: item.start, end: item.end },
    selection: spanOf(label) ?? { start: item.start, end: item.keywordEnd },
    children: rows.flatMap((row) => symbolOf(row) ?? []),
  };
}

function outputOf({ name, start, end, nameStart, nameEnd }: AttrItem): SymbolNode {
  const selection = { start: nameStart, end: nameEnd };
  return { name, kind: "output", whole: { start, end }, selection, children: [] };
}

function spanOf(span: Span | undefined): Span | undefined {
  return span && { start: span.start, end: span.end };
}

/** The blocks, lists, block strings and paragraphs of comments that take more than one line, by start. */
export function foldsOf(reading: Reading): readonly Fold[] {
  const { text } = reading;
  const folds: Fold[] = [];
  const strings: Span[] = [];
  const add = (kind: Fold["kind"], from: number, to: number): void => {
    const start = lineEnd(text, from);
    if (start < to) folds.push({ kind, start, end: lineEnd(text, to) });
  };
  const value = (e: Expression): void => {
    if (isCollection(e)) add("list", e.start, e.end);
    else if (isText(e) && lineEnd(text, e.start) < e.end) {
      add("string", e.start, e.end);
      strings.push(e);
    }
    for (const inner of childrenOf(e)) value(inner);
  };
  const each = (items: readonly Item[]): void => {
    for (const item of items) {
      if (item.kind === "attr") value(item.value);
      else if (item.kind === "edge") {
        if (item.meta) value(item.meta);
      } else {
        if (item.type) type(item.type, add);
        if (item.value) value(item.value);
        if (item.items) add("block", headEnd(item), item.end);
        each(item.items ?? []);
      }
    }
  };
  each(reading.items);
  strings.sort((a, b) => a.start - b.start);
  for (const { start, end } of paragraphs(text, strings)) add("comment", start, end);
  return folds.sort((a, b) => a.start - b.start || b.end - a.end);
}

function isText(e: Expression): boolean {
  return e.kind === "template" || (e.kind === "literal" && typeof e.value === "string");
}

function type(node: TypeNode, add: (kind: Fold["kind"], from: number, to: number) => void): void {
  if (node.kind === "object") {
    add("list", node.start, node.end);
    for (const field of node.fields) type(field.type, add);
  } else if (node.kind !== "name") type(node.of, add);
}

/** Where the head of a block ends, before its brace. */
function headEnd(item: BlockItem): number {
  return item.value?.end ?? item.type?.end ?? item.labels.at(-1)?.end ?? item.keywordEnd;
}

/** Lines that hold nothing but a comment, two or more of them in a row. */
function* paragraphs(text: string, strings: readonly Span[]): Generator<Span> {
  let open: { start: number; end: number; count: number } | undefined;
  let next = 0;
  for (let at = 0; at <= text.length; ) {
    const end = lineEnd(text, at);
    while ((strings[next]?.end ?? Number.POSITIVE_INFINITY) <= at) next += 1;
    const isInside = (strings[next]?.start ?? Number.POSITIVE_INFINITY) < at;
    if (!isInside && /^[ \t]*#/.test(text.slice(at, end))) {
      open ??= { start: at, end, count: 0 };
      open.end = end;
      open.count += 1;
    } else {
      if (open && open.count > 1) yield open;
      open = undefined;
    }
    at = end + 1;
  }
  if (open && open.count > 1) yield open;
}

/** The stretches around an offset, the smallest first: token, expressions, value, attribute, blocks, file. Each is larger than the one before. */
export function selectionsAt(reading: Reading, offset: number): readonly Span[] {
  const { text } = reading;
  const at = Math.min(Math.max(Math.trunc(offset) || 0, 0), text.length);
  const around: Span[] = [{ start: 0, end: text.length }];
  const enter = (span: Span | undefined): boolean => {
    const holds = span !== undefined && span.start <= at && at <= span.end;
    if (holds) around.push({ start: span.start, end: span.end });
    return holds;
  };
  const value = (e: Expression): boolean => {
    if (!enter(e)) return false;
    childrenOf(e).some(value);
    return true;
  };
  const type = (node: TypeNode): boolean => {
    if (!enter(node)) return false;
    if (node.kind === "object") node.fields.some((field) => type(field.type));
    else if (node.kind !== "name") type(node.of);
    return true;
  };
  let items: readonly Item[] | undefined = reading.items;
  while (items) {
    const item: Item | undefined = items.find(enter);
    items = undefined;
    if (item?.kind === "attr") value(item.value);
    else if (item?.kind === "edge") item.ends.some(enter) || (item.meta && value(item.meta));
    else if (item) {
      item.labels.some(enter) ||
        (item.type && type(item.type)) ||
        (item.value && value(item.value));
      items = item.items;
    }
  }
  enter(tokenAt(text, at));
  const chosen: Span[] = [];
  for (const span of around.reverse()) {
    const last = chosen.at(-1);
    const isLarger =
      !last || (span.start <= last.start && span.end >= last.end && sizeOf(span) > sizeOf(last));
    if (isLarger) chosen.push(span);
  }
  return chosen;
}

function sizeOf({ start, end }: Span): number {
  return end - start;
}

/** The name, word or number at an offset. */
function tokenAt(text: string, at: number): Span | undefined {
  let start = at;
  let end = at;
  while (start > 0 && isNamePart(text.charCodeAt(start - 1))) start -= 1;
  while (end < text.length && isNamePart(text.charCodeAt(end))) end += 1;
  return start < end ? { start, end } : undefined;
}
