/** Edges as written: `a.port -> b -> c { … }`. */

import type { EdgeEnd, FreshItem } from "../language/items.ts";
import { readObject } from "../syntax/collections.ts";
import { type Collection, NO_COMMENTS } from "../syntax/notes.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { readName } from "../syntax/strings.ts";
import { arrowEnd } from "./slips.ts";

/** Whether an arrow, or the port before one, stands at `pos`. */
export function isArrow(s: Scanner, code: number, next: number): boolean {
  if (code === 46 || (code === 45 && next === 62)) return true;
  const isDrawn = code === 45 || code > 127 || (code === 61 && (next === 61 || next === 62));
  return isDrawn && arrowEnd(s.src, s.pos) !== -1;
}

/** `a.port -> b { … }`; the name of the first end is read. */
export function readEdge(s: Scanner, start: number, name: string, nameEnd: number): FreshItem {
  const ends = [readEnd(s, name, start, nameEnd), readNext(s)];
  while (isArrow(s, s.peek(), s.src.charCodeAt(s.pos + 1))) ends.push(readNext(s));
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
  if (node === undefined) s.expected("a node");
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
