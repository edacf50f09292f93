/** Edges as written, `a.port -> b -> c { … }`, and as edges of the graph: a chain is its pairs. */

import type { JsonObject } from "@millrace/contracts";
import { replacement } from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import { toLiteral } from "../language/field-value.ts";
import type { EdgeEnd, EdgeItem, FreshItem } from "../language/items.ts";
import { readObject } from "../syntax/collections.ts";
import { type Collection, NO_COMMENTS } from "../syntax/notes.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { readName } from "../syntax/strings.ts";
import type { Level, MappingContext } from "./mapping-context.ts";
import { arrowEnd, severalEnds } from "./slips.ts";

/** Adds the edges of an item. */
export function mapEdge(context: MappingContext, item: EdgeItem, level: Level): void {
  const { edges } = level;
  const list = `${level.pointer}/edges`;
  context.take(item);
  const first = `${list}/${edges.length}/meta`;
  const data = item.meta && context.literal(item.meta, "an edge's meta", first);
  if (item.meta && data !== undefined) context.take(item.meta);
  const isEmpty = data === undefined || Object.keys(data as JsonObject).length === 0;
  for (let index = 1; index < item.ends.length; index += 1) {
    const from = item.ends[index - 1] as EdgeEnd;
    const to = item.ends[index] as EdgeEnd;
    const port = from.port ?? "out";
    const pointer = `${list}/${edges.length}`;
    checkTwice(context, item, { from, port, to, pointer }, level);
    if (context.marks) {
      context.marks.add(pointer, from.start, to.end);
      context.marks.add(`${pointer}/from`, from.start, from.nodeEnd);
      if (from.port !== undefined) context.marks.add(`${pointer}/port`, from.nodeEnd, from.end);
      context.marks.add(`${pointer}/to`, to.start, to.nodeEnd);
      if (item.meta && index > 1) toLiteral(item.meta, `${pointer}/meta`, context.marks);
    }
    const edge = { from: from.node, port, to: to.node };
    edges.push(isEmpty ? edge : { ...edge, meta: data as JsonObject });
  }
  const last = item.ends.at(-1) as EdgeEnd;
  if (last.port !== undefined) {
    context.report.add("FLOW4013", last.nodeEnd, last.end, {
      pointer: `${list}/${edges.length - 1}`,
      fix: [`write ${shown(last.node)}`, ""],
    });
  }
}

function checkTwice(
  context: MappingContext,
  item: EdgeItem,
  edge: { from: EdgeEnd; port: string; to: EdgeEnd; pointer: string },
  { knownEdges }: Level,
): void {
  const { from, port, to, pointer } = edge;
  const first = knownEdges.add(from.node, port, to.node, item.start, item.end);
  if (!first) return;
  context.report.add("FLOW2006", from.start, to.end, {
    parts: { from: shown(from.node), port: shown(port), to: shown(to.node) },
    pointer,
    related: { ...first, message: "first written here" },
    fix: item.ends.length === 2 ? replacement("remove it", item.start, item.end, "") : undefined,
  });
}

/** Whether an arrow, or the port before one, stands at `pos`. */
export function isArrow(s: Scanner, code: number, next: number): boolean {
  if (code === 46 || (code === 45 && next === 62)) return true;
  const isDrawn =
    code === 45 || code > 127 || ((code === 61 || code === 62) && (next === 61 || next === 62));
  return isDrawn && arrowEnd(s.src, s.pos) !== -1;
}

/** `a.port -> b { … }`; the name of the first end is read. */
export function readEdge(s: Scanner, start: number, name: string, nameEnd: number): FreshItem {
  const ends = [readEnd(s, name, start, nameEnd), readNext(s)];
  while (isArrow(s, s.peek(), s.src.charCodeAt(s.pos + 1))) ends.push(readNext(s));
  if (s.peek() === 44 || s.peek() === 38) severalEnds(s);
  const meta = s.peek() === 123 ? (readObject(s, true) as Collection) : undefined;
  return {
    kind: "edge",
    ends,
    meta,
    start,
    end: s.tokenEnd,
    lead: NO_COMMENTS,
    blank: false,
    trailingComment: undefined,
  };
}

/** `-> node.port` */
function readNext(s: Scanner): EdgeEnd {
  readArrow(s);
  s.peek();
  const at = s.pos;
  const node = readName(s);
  if (node === undefined) {
    severalEnds(s);
    s.expected("a node");
  }
  return readEnd(s, node, at, s.tokenEnd);
}

function readEnd(s: Scanner, node: string, start: number, nodeEnd: number): EdgeEnd {
  if (s.peek() !== 46) return { node, port: undefined, start, nodeEnd, end: nodeEnd };
  s.pos += 1;
  const port = readName(s);
  if (port === undefined) s.expected("a port");
  return { node, port, start, nodeEnd, end: s.tokenEnd };
}

function readArrow(s: Scanner): void {
  s.peek();
  const start = s.pos;
  const end = arrowEnd(s.src, start);
  if (end === -1) s.expected("`->`");
  s.pos = end;
  if (end === start + 2 && s.src.charCodeAt(start) === 45) return;
  s.error("FLOW1106", start, s.pos, { fix: "->" });
}
