/**
 * The strict reader: items of the file, written as `printFlow` writes them, straight into the graph.
 *   S0  every text ends with a line end, so that no token runs into the end.
 *   S1  what is read here, the tolerant reader (`read-items.ts` and `graph-builder.ts`) reads alike and without a finding.
 *   S2  at the first thing that is not known the item of the file is left unread and unreported to the tolerant reader.
 *   S3  where the text is wanted (`keep`), only items are known that are as they are printed: format gives their text as it stands.
 *   S4  what is read in vain comes out of a budget of as many characters as the text has, so that all work stays linear.
 */

import type { FlowBody, FlowNode, Json, JsonSchema } from "@millrace/contracts";
import { BLOCKS, isBlockKeyword, NODE_POLICIES } from "../language/blocks.ts";
import type { TypeNode } from "../language/items.ts";
import { schemaOf, typeName } from "../language/types.ts";
import { isDigit, isNameStart } from "../syntax/chars.ts";
import { type Scanner, TEXT_END } from "../syntax/scanner.ts";
import type { Declaration } from "./declarations.ts";
import type { GraphBuilder } from "./graph-builder.ts";
import type { Keep, Level } from "./mapping-context.ts";
import {
  checkPrinted,
  enter,
  next,
  readName,
  skipGap,
  skipIdent,
  take,
  UNKNOWN,
  unknown,
} from "./strict-text.ts";
import { readMember, readObject, readValue, setField } from "./strict-values.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Reads items of one file as long as they are canonical. */
export class StrictReader {
  private readonly s: Scanner;
  private readonly graph: GraphBuilder;
  private readonly keep: Keep | undefined;
  private budget: number;

  /** `keep`: only items are read that are as they are printed; it takes their text. */
  constructor(s: Scanner, graph: GraphBuilder, keep?: Keep) {
    this.s = s;
    this.graph = graph;
    this.keep = keep;
    this.budget = s.src.length;
    s.layout = keep?.layout;
  }

  /** Reads items from `pos` on, up to the first that is not known here, or the end of the text. */
  readItems(): void {
    const { s, graph, keep } = this;
    // A file without its header goes to the tolerant reader.
    if (!graph.hasHeader || s.pos === s.src.length || s.commentCount > 0) return;
    const { depth } = s;
    let start = s.pos;
    try {
      while (this.budget >= 0) {
        start = s.pos;
        if (keep ? !readPrinted(s, graph, keep) : !readNext(s, graph)) return;
      }
    } catch (thrown) {
      if (thrown !== UNKNOWN) throw thrown;
      this.budget -= s.pos - start;
      s.pos = start;
      s.depth = depth;
      s.top = 0;
    }
  }
}

/** Reads the next item; false when there is none. */
function readNext(s: Scanner, graph: GraphBuilder): boolean {
  if (skipGap(s) === TEXT_END) return false;
  readItem(s, graph);
  return true;
}

/** `readNext` for an item that is kept with the comments before it. */
function readPrinted(s: Scanner, graph: GraphBuilder, keep: Keep): boolean {
  const { layout } = keep;
  const blank = layout.skipEmptyLines(s) > 1;
  const start = s.pos;
  if (start === s.src.length) return false;
  layout.skipLead(s);
  s.level = 0;
  s.hasBlock = false;
  const section = readItem(s, graph);
  keep.add(section, { text: s.src.slice(start, s.pos), blank, hasBlock: s.hasBlock });
  return true;
}

/** Behind an item its line ends, or its block. */
function endItem(s: Scanner): void {
  const code = next(s, s.src.charCodeAt(s.pos) === 32 ? 1 : 0);
  if (code === 10) return;
  if (code !== 35 && code !== 125) unknown();
  s.layout?.skipComment(s);
}

/** Whether another item stands in the block that is read; moves to it, or behind the `}`. */
function hasItem(s: Scanner): boolean {
  if (s.layout) return s.layout.hasItem(s);
  if (skipGap(s) !== 125) return true;
  s.pos += 1;
  return false;
}

/** Moves behind the `{` of a block; false when there is none on this line. */
function opens(s: Scanner): boolean {
  if (next(s) !== 123) return false;
  s.pos += 1;
  s.level += 1;
  s.hasBlock = true;
  return true;
}

/** Reads an item and gives the section that it belongs to. */
function readItem(s: Scanner, graph: GraphBuilder): string {
  const start = s.pos;
  const isBare = isNameStart(s.src.charCodeAt(start));
  const word = readName(s);
  if (readEdge(s, graph.level, word, start)) return "edge";
  if (!isBare || !isBlockKeyword(word) || word === "flow" || word === "body") unknown();
  if (word === "node") readNode(s, graph.level);
  else if (word === "layout") readLayout(s, graph);
  else readDeclaration(s, graph, word);
  return word;
}

/** An edge whose first name is read; false when none stands here. A chain is not known. */
function readEdge(s: Scanner, level: Level, from: string, start: number): boolean {
  let port = "out";
  const code = next(s, s.src.charCodeAt(s.pos) === 46 ? 0 : 1);
  if (code === 46) {
    s.pos += 1;
    port = readName(s);
    if (port === "out") unknown();
    next(s, 1);
  } else if (code !== 45) return false;
  take(s, 45);
  take(s, 62);
  next(s, 1);
  const to = readName(s);
  let end = s.pos;
  const edge: Mutable<Level["edges"][number]> = { from, port, to };
  if (next(s, 1) === 123) {
    const meta = readObject(s, true);
    if (Object.keys(meta).length === 0) unknown();
    edge.meta = meta;
    end = s.pos;
  }
  endItem(s);
  if (level.knownEdges.add(from, port, to, start, end)) unknown();
  level.edges.push(edge);
  return true;
}

/** A node whose word is read. */
function readNode(s: Scanner, level: Level): void {
  next(s);
  const start = s.pos;
  const id = readName(s);
  const end = s.pos;
  next(s);
  take(s, 58);
  const type = readTypeName(s);
  const version = readVersion(s);
  const fields: Record<string, Json> = {};
  let policy: Record<string, Json> | undefined;
  let body: FlowBody | undefined;
  next(s, 1);
  if (opens(s)) {
    for (let last = -1; hasItem(s); endItem(s)) {
      if (s.src.charCodeAt(s.pos) === 64) {
        s.pos += 1;
        policy ??= {};
        last = inOrder(s, last, readMember(s, NODE_POLICIES, policy));
        continue;
      }
      const isBare = isNameStart(s.src.charCodeAt(s.pos));
      const name = readName(s);
      const isBody = next(s, 1) === 123;
      last = inOrder(s, last, isBody ? NODE_POLICIES.length : -1);
      if (!isBody) setField(s, fields, name, 61, false);
      else if (name !== "body" || body || !isBare) unknown();
      else body = readBody(s, level.bodyOf(""));
    }
  }
  endItem(s);
  if (level.claim("node", id, start, end)) unknown();
  const node: Mutable<FlowNode> = { id, type, fields };
  if (version !== undefined) node.typeVersion = version;
  if (policy) node.policy = policy;
  if (body) node.body = body;
  level.nodes.push(node);
}

/** The body whose `{` stands here. */
function readBody(s: Scanner, level: Level): FlowBody {
  const { nodes, edges } = level;
  const found: Record<string, Json> = {};
  enter(s);
  opens(s);
  let last = 0;
  for (let gap = s.pos; hasItem(s); gap = s.pos) {
    const start = s.pos;
    const isBare = isNameStart(s.src.charCodeAt(start));
    const word = readName(s);
    const isEdge = readEdge(s, level, word, start);
    const section = isEdge ? 2 : word === "node" ? 1 : 3;
    const isNext = inOrder(s, last, section) > last && last > 0;
    checkPrinted(s, !isNext || s.src.charCodeAt(gap + 1) === 10);
    last = section;
    if (isEdge) continue;
    if (word === "output") {
      setField(s, found, word, 61, false);
      endItem(s);
    } else if (word === "node" && isBare) readNode(s, level);
    else unknown();
  }
  s.depth -= 1;
  return { nodes, edges, ...found };
}

/** A declaration whose word is read. */
function readDeclaration(s: Scanner, graph: GraphBuilder, keyword: Declaration): void {
  const { attributes = [], type, value } = BLOCKS[keyword];
  next(s);
  const start = s.pos;
  const name = readName(s);
  const end = s.pos;
  const found: Record<string, Json> = { name };
  const code = next(s, s.src.charCodeAt(s.pos) === 32 ? 1 : 0);
  if (code === 58 && type !== "none") {
    checkPrinted(s, s.pos === end);
    s.pos += 1;
    if (keyword === "connection") found["auth"] = typeName(readType(s));
    else found["schema"] = readSchema(s);
    next(s, 1);
  } else {
    if (type === "needed") unknown();
    checkPrinted(s, code === 10 || s.pos > end);
  }
  let data: Json | undefined;
  if (value !== "none" && s.src.charCodeAt(s.pos) === 61) {
    s.pos += 1;
    next(s, 1);
    data = readValue(s, keyword === "input");
  } else if (value === "needed") unknown();
  if (opens(s)) {
    for (let last = -1; hasItem(s); endItem(s)) {
      last = inOrder(s, last, readMember(s, attributes, found));
    }
    // The schema of a type prints as that type.
    checkPrinted(s, code === 58 || found["schema"] === undefined);
  }
  endItem(s);
  // A connection that names itself says nothing.
  if (found["slug"] === name || graph.level.claim(keyword, name, start, end)) unknown();
  if (data !== undefined) found[keyword === "input" ? "default" : "value"] = data;
  graph.addStrict(keyword, found);
}

function readLayout(s: Scanner, graph: GraphBuilder): void {
  const places: Record<string, Json> = {};
  let isEmpty = true; // and so not printed
  if (opens(s)) {
    for (; hasItem(s); endItem(s)) {
      const name = readName(s);
      next(s, 1);
      setField(s, places, name, 61, true);
      isEmpty = false;
    }
  }
  endItem(s);
  if (isEmpty || !graph.addLayout(places)) unknown();
}

/** `a.b` */
function readTypeName(s: Scanner): string {
  next(s, 1);
  const { src, pos: start } = s;
  if (!isNameStart(src.charCodeAt(start))) unknown();
  const word = s.readIdent();
  if (src.charCodeAt(s.pos) !== 46) return word;
  do {
    s.pos += 1;
    skipIdent(s);
  } while (src.charCodeAt(s.pos) === 46);
  return (
    s.words?.read(
      src,
      start,
      s.pos,
      -1,
      -(src.charCodeAt(start) * 7 + src.charCodeAt(s.pos - 2) * 67),
    ) ?? src.slice(start, s.pos)
  );
}

/** `@2`; undefined when none stands here. */
function readVersion(s: Scanner): number | undefined {
  const { src, pos } = s;
  if (src.charCodeAt(pos) !== 64) return undefined;
  do s.pos += 1;
  while (isDigit(src.charCodeAt(s.pos)));
  const version = Number(src.slice(pos + 1, s.pos));
  const isWritten = Number.isSafeInteger(version) && version > 0 && src.charCodeAt(pos + 1) !== 48;
  return isWritten ? version : unknown();
}

/** `a.b`, or `a.b@2`. */
function readType(s: Scanner): TypeNode & { kind: "name" } {
  next(s, 1);
  const start = s.pos;
  const name = readTypeName(s);
  const nameEnd = s.pos;
  return { kind: "name", name, nameEnd, version: readVersion(s), start, end: s.pos };
}

/** The schema of a type; one of an object is not known. */
function readSchema(s: Scanner): JsonSchema {
  let type: TypeNode = readType(s);
  const { start } = type;
  for (let levels = s.depth; ; levels += 1) {
    const isArray = s.src.startsWith("[]", s.pos);
    if (!isArray && s.src.charCodeAt(s.pos) !== 63) break;
    if (levels >= s.maxDepth) unknown();
    s.pos += isArray ? 2 : 1;
    type = { kind: isArray ? "array" : "optional", of: type, start, end: s.pos };
  }
  return schemaOf(type, unknown) ?? unknown();
}

/** The place of a member behind the one at `last`. */
function inOrder(s: Scanner, last: number, place: number): number {
  checkPrinted(s, place >= last);
  return place;
}
