/**
 * The strict reader: items of the file, written as `printFlow` writes them, straight into the graph.
 *   S0  every text ends with a line end, so that no token runs into the end.
 *   S1  what is read here, the tolerant reader (`read-items.ts` and `graph-builder.ts`) reads alike and without a finding.
 *   S2  at the first thing that is not known the item of the file is left unread and unreported to the tolerant reader.
 *   S3  what is read in vain comes out of a budget of as many characters as the text has, so that all work stays linear.
 */

import type { FlowBody, FlowNode, Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isMarker } from "../data.ts";
import {
  BLOCKS,
  isBlockKeyword,
  type Member,
  memberByText,
  NODE_POLICIES,
} from "../language/blocks.ts";
import type { TypeNode } from "../language/items.ts";
import { schemaOf, typeName } from "../language/types.ts";
import { isDigit, isNameStart } from "../syntax/chars.ts";
import { type Scanner, TEXT_END } from "../syntax/scanner.ts";
import type { Declaration } from "./declarations.ts";
import { edgeKey } from "./edges.ts";
import type { GraphBuilder } from "./graph-builder.ts";
import type { Level } from "./mapping-context.ts";
import { endsValue, readScalar } from "./strict-scalar.ts";
import {
  enter,
  next,
  readDuration,
  readName,
  skipIdent,
  take,
  UNKNOWN,
  unknown,
} from "./strict-text.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Reads items of one file as long as they are canonical. */
export class StrictReader {
  private readonly s: Scanner;
  private readonly graph: GraphBuilder;
  private budget: number;

  constructor(s: Scanner, graph: GraphBuilder) {
    this.s = s;
    this.graph = graph;
    this.budget = s.src.length;
  }

  /** Reads items from `pos` on, up to the first that is not known here, or the end of the text. */
  readItems(): void {
    const { s, graph } = this;
    // Without its header, which the tolerant reader reads, a file is none.
    if (!graph.hasHeader || s.pos === s.src.length) return;
    const { depth } = s;
    let start = s.pos;
    try {
      while (this.budget >= 0) {
        if (skipGap(s) === TEXT_END) return;
        start = s.pos;
        readItem(s, graph);
      }
    } catch (thrown) {
      if (thrown !== UNKNOWN) throw thrown;
      this.budget -= s.pos - start;
      s.pos = start;
      s.depth = depth;
    }
  }
}

/** Moves over blanks, line ends and comments, and gives the character behind them. */
function skipGap(s: Scanner): number {
  for (;;) {
    const code = next(s);
    if (code === 35) s.pos = s.src.indexOf("\n", s.pos);
    else if (code !== 10) return code;
    else if (++s.pos === s.src.length) return TEXT_END;
  }
}

/** Behind an item its line ends, or its block. */
function endItem(s: Scanner): void {
  const code = next(s);
  if (code !== 10 && code !== 35 && code !== 125) unknown();
}

/** Whether another item stands in the block that is read; moves to it, or behind the `}`. */
function hasItem(s: Scanner): boolean {
  if (skipGap(s) !== 125) return true;
  s.pos += 1;
  return false;
}

/** Moves behind the `{` of a block; false when there is none on this line. */
function opens(s: Scanner): boolean {
  if (next(s) !== 123) return false;
  s.pos += 1;
  return true;
}

function readItem(s: Scanner, graph: GraphBuilder): void {
  const start = s.pos;
  const isBare = isNameStart(s.src.charCodeAt(start));
  const word = readName(s);
  if (readEdge(s, graph.level, word, start)) return;
  if (!isBare || !isBlockKeyword(word) || word === "flow" || word === "body") unknown();
  if (word === "node") readNode(s, graph.level);
  else if (word === "layout") readLayout(s, graph);
  else readDeclaration(s, graph, word);
}

/** An edge whose first name is read; false when none stands here. A chain is not known. */
function readEdge(s: Scanner, level: Level, from: string, start: number): boolean {
  let port = "out";
  const code = next(s);
  if (code === 46) {
    s.pos += 1;
    port = readName(s);
    next(s);
  } else if (code !== 45) return false;
  take(s, 45);
  take(s, 62);
  next(s);
  const to = readName(s);
  let end = s.pos;
  const edge: Mutable<Level["edges"][number]> = { from, port, to };
  if (next(s) === 123) {
    const meta = readObject(s, true);
    if (Object.keys(meta).length > 0) edge.meta = meta;
    end = s.pos;
  }
  endItem(s);
  if (level.knownEdges.add(edgeKey(from, port, to), start, end)) unknown();
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
  const fields: Record<string, Json> = {};
  let policy: Record<string, Json> | undefined;
  let body: FlowBody | undefined;
  if (opens(s)) {
    for (; hasItem(s); endItem(s)) {
      if (s.src.charCodeAt(s.pos) === 64) {
        s.pos += 1;
        policy ??= {};
        readMember(s, NODE_POLICIES, policy);
        continue;
      }
      const isBare = isNameStart(s.src.charCodeAt(s.pos));
      const name = readName(s);
      if (next(s) !== 123) setField(s, fields, name, 61, false);
      else if (name !== "body" || body || !isBare) unknown();
      else body = readBody(s, level.bodyOf(""));
    }
  }
  endItem(s);
  if (level.claim("node", id, start, end)) unknown();
  const node: Mutable<FlowNode> = { id, type: type.name, fields };
  if (type.version !== undefined) node.typeVersion = type.version;
  if (policy) node.policy = policy;
  if (body) node.body = body;
  level.nodes.push(node);
}

/** The body whose `{` stands here. */
function readBody(s: Scanner, level: Level): FlowBody {
  const { nodes, edges } = level;
  const found: Record<string, Json> = {};
  enter(s);
  s.pos += 1;
  for (; hasItem(s); endItem(s)) {
    const start = s.pos;
    const isBare = isNameStart(s.src.charCodeAt(start));
    const word = readName(s);
    if (readEdge(s, level, word, start)) continue;
    if (word === "output") setField(s, found, word, 61, false);
    else if (word === "node" && isBare) readNode(s, level);
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
  if (next(s) === 58 && type !== "none") {
    s.pos += 1;
    if (keyword === "connection") found["auth"] = typeName(readTypeName(s));
    else found["schema"] = readSchema(s);
    next(s);
  } else if (type === "needed") unknown();
  let data: Json | undefined;
  if (value !== "none" && s.src.charCodeAt(s.pos) === 61) {
    s.pos += 1;
    data = readValue(s, keyword === "input");
  } else if (value === "needed") unknown();
  if (opens(s)) for (; hasItem(s); endItem(s)) readMember(s, attributes, found);
  endItem(s);
  // A connection that names itself says nothing.
  if (found["slug"] === name || graph.level.claim(keyword, name, start, end)) unknown();
  if (data !== undefined) found[keyword === "input" ? "default" : "value"] = data;
  graph.addStrict(keyword, found);
}

function readLayout(s: Scanner, graph: GraphBuilder): void {
  const places: Record<string, Json> = {};
  let isEmpty = true;
  if (opens(s)) {
    for (; hasItem(s); endItem(s)) {
      setField(s, places, readName(s), 61, true);
      isEmpty = false;
    }
  }
  endItem(s);
  if (!graph.addLayout(places, isEmpty)) unknown();
}

/** `a.b`, or `a.b@2`. */
function readTypeName(s: Scanner): TypeNode & { kind: "name" } {
  const { src } = s;
  next(s);
  const start = s.pos;
  do {
    if (s.pos > start) s.pos += 1;
    skipIdent(s);
  } while (src.charCodeAt(s.pos) === 46);
  const nameEnd = s.pos;
  let version: number | undefined;
  if (src.charCodeAt(nameEnd) === 64) {
    do s.pos += 1;
    while (isDigit(src.charCodeAt(s.pos)));
    version = Number(src.slice(nameEnd + 1, s.pos));
    if (!Number.isSafeInteger(version) || version === 0) unknown();
  }
  const name = src.slice(start, nameEnd);
  return { kind: "name", name, nameEnd, version, start, end: s.pos };
}

/** The schema of a type; one of an object is not known. */
function readSchema(s: Scanner): JsonSchema {
  let type: TypeNode = readTypeName(s);
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

/** `name = value` of these members, or `name: value`: set under its name in the graph. */
function readMember(
  s: Scanner,
  members: readonly Member[],
  into: Record<string, Json>,
  sign = 61,
): void {
  const member = memberByText(members, readName(s));
  if (!member || into[member.key] !== undefined) unknown();
  next(s);
  take(s, sign);
  into[member.key] = readMemberValue(s, member);
}

function readMemberValue(s: Scanner, { kind, members, shape }: Member): Json {
  if (next(s) === 123 && members) return readGroup(s, members);
  if (kind === "duration") {
    const ms = readDuration(s);
    return ms !== undefined && endsValue(s) ? ms : unknown();
  }
  const data = readValue(s, kind !== "value");
  return !shape || shape.is(data) ? data : unknown();
}

/** An object of these members. */
function readGroup(s: Scanner, members: readonly Member[]): JsonObject {
  const group: Record<string, Json> = {};
  enter(s);
  s.pos += 1;
  for (let isFirst = true; hasElement(s, 125, isFirst); isFirst = false) {
    readMember(s, members, group, 58);
  }
  s.depth -= 1;
  if (members.some(({ key, needed }) => needed && group[key] === undefined)) unknown();
  return endsValue(s) ? group : unknown();
}

/** Sets a member that is not there yet, and that no object seems to have. */
function setField(
  s: Scanner,
  into: Record<string, Json>,
  name: string,
  sign: number,
  literal: boolean,
): void {
  if (into[name] !== undefined) unknown();
  next(s);
  take(s, sign);
  into[name] = readValue(s, literal);
}

/** A value. `literal`: nothing in it may have to be evaluated. */
function readValue(s: Scanner, literal: boolean): Json {
  const code = next(s);
  if (code !== 91 && code !== 123) return readScalar(s, literal);
  const data = code === 91 ? readList(s, literal) : readObject(s, literal);
  return endsValue(s) ? data : unknown();
}

function readList(s: Scanner, literal: boolean): Json[] {
  const list: Json[] = [];
  enter(s);
  s.pos += 1;
  for (let isFirst = true; hasElement(s, 93, isFirst); isFirst = false) {
    list.push(readValue(s, literal));
  }
  s.depth -= 1;
  return list;
}

/** An object; one with a key that means something in the graph is not known. */
function readObject(s: Scanner, literal: boolean): JsonObject {
  const members: Record<string, Json> = {};
  enter(s);
  s.pos += 1;
  for (let isFirst = true; hasElement(s, 125, isFirst); isFirst = false) {
    const key = readName(s);
    if (isMarker(key)) unknown();
    setField(s, members, key, 58, literal);
  }
  s.depth -= 1;
  return members;
}

/**
 * Whether another element stands in the list or object that is read; moves to it, or behind the closer. Elements are parted
 * by a comma, perhaps with line ends behind it, or by line ends.
 */
function hasElement(s: Scanner, closer: number, isFirst: boolean): boolean {
  const isComma = next(s) === 44;
  const before = s.pos;
  if (isComma && !isFirst) s.pos += 1;
  if (skipGap(s) === closer) {
    s.pos += 1;
    return false;
  }
  return isFirst || s.pos > before || unknown();
}
