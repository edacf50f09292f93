/**
 * The items of a flow and of its blocks: attributes, edges, blocks.
 *   I1  an item that fails is dropped with what belongs to it (`recover.ts`).
 *   I2  in the guided pass indentation says where a block ends, whatever its braces say.
 */

import { aliasOf, BLOCK_HINTS } from "../diagnostics/aliases.ts";
import { replacement } from "../diagnostics/bag.ts";
import { BLOCKS, type BlockKind, isBlockKeyword } from "../language/blocks.ts";
import type { BlockItem, FreshItem, Item, Label, TypeNode } from "../language/items.ts";
import { isDigit, isNameStart } from "../syntax/chars.ts";
import { FAIL } from "../syntax/cursor.ts";
import { type Comment, NO_COMMENTS } from "../syntax/notes.ts";
import { LINE_END, type Scanner, TEXT_END } from "../syntax/scanner.ts";
import { findSeparator, firstOfLine } from "../syntax/skip.ts";
import { closesSingle, readName } from "../syntax/strings.ts";
import { isArrow, readEdge } from "./edges.ts";
import {
  edgeBehindWord,
  firstBehind,
  isPolicy,
  isStatement,
  markdownFence,
  noEqualsSign,
  statement,
  strayCloser,
  typeWithoutColon,
  unexpectedStart,
} from "./item-slips.ts";
import { readType } from "./read-type.ts";
import { Opener, recover } from "./recover.ts";
import { arrowEnd, beginsItem, hintForRest, proseEnd, severalEnds } from "./slips.ts";
import type { StrictReader } from "./strict.ts";

type Take = (item: Item) => void;

/**
 * Reads the items of a file, one a step, and hands each to `take`; gives the comments at the foot. What `strict` reads is handed
 * to nobody, and all that it reads in a row is one step.
 */
export function* readFileItems(
  s: Scanner,
  take: Take,
  strict: StrictReader | undefined,
): Generator<void, readonly Comment[]> {
  let isFirst = true;
  s.pos = Math.max(s.pos, proseEnd(s.src));
  for (;;) {
    strict?.readItems();
    const next = readNext(s, undefined, take);
    if (next === "end") return s.takeComments();
    if (next === "failed" && isFirst) s.headless = true;
    if (next === "item") isFirst = false;
    yield;
  }
}

/** Reads items up to and with the `}` of `opener`, and puts each on the stack; gives the comments at the foot. */
function readBlockItems(s: Scanner, opener: Opener): readonly Comment[] {
  while (readNext(s, opener, undefined) !== "end");
  return s.takeComments();
}

/** Reads what stands next. `failed`: it was an item, and is dropped. */
function readNext(
  s: Scanner,
  opener: Opener | undefined,
  take: Take | undefined,
): "item" | "failed" | "other" | "end" {
  s.skipLines();
  const code = s.peek();
  if (code === TEXT_END) {
    if (opener && !s.swallowed) unclosed(s, opener);
    return "end";
  }
  if (opener && s.guided && isOutside(s, code, opener)) {
    unclosed(s, opener);
    return "end";
  }
  if (code === 125 && opener && !(s.guided && isDeeper(s, opener))) {
    s.pos = s.tokenEnd = s.pos + 1;
    return "end";
  }
  if (code === 125 || code === 93 || code === 41) {
    strayCloser(s);
    return "other";
  }
  if (code === 96 && s.src.startsWith("```", s.pos)) {
    markdownFence(s);
    return "other";
  }
  return readItem(s, opener, take) ? "item" : "failed";
}

/** Whether the line of `pos` starts there and, by its indent, is behind the block of `opener`. */
function isOutside(s: Scanner, code: number, opener: Opener): boolean {
  if (!s.isFirstOnLine(s.pos)) return false;
  const indent = s.indentOf(s.pos);
  return code === 125 ? indent < opener.indent(s) : indent <= opener.indent(s);
}

/** Whether a `}` starts its line and, by its indent, closes something inside the block of `opener`. */
function isDeeper(s: Scanner, opener: Opener): boolean {
  return s.isFirstOnLine(s.pos) && s.indentOf(s.pos) > opener.indent(s);
}

/** Reads one item with its comments; false when it failed and was dropped. */
function readItem(s: Scanner, opener: Opener | undefined, take: Take | undefined): boolean {
  const { blank, depth, itemStart } = s;
  const mark = s.stack.length;
  const { count } = s.report;
  const before = s.takeComments();
  const start = s.pos;
  s.startItem(start);
  let isRead = false;
  try {
    const item = readBareItem(s, start, opener);
    const hoisted = s.takeComments();
    s.skipBlanks();
    const trailingComment = s.readTrailingComment();
    item.lead = hoisted.length === 0 ? before : [...before, ...hoisted];
    item.blank = blank;
    item.trailingComment = trailingComment;
    if (take) take(item);
    else s.stack.push(item);
    isRead = true;
    if (opener && !isInPlace(item, opener)) checkIndent(s, start, opener);
    if (s.closedByGuide) s.closedByGuide = false;
    else checkLineEnd(s);
  } catch (thrown) {
    if (thrown !== FAIL) throw thrown;
    s.takeComments();
    s.depth = depth;
    s.flat = s.spans.length = s.spreads = 0;
    s.stack.length = mark;
    recover(s, start, opener, count);
  }
  s.startItem(itemStart);
  return isRead;
}

function isInPlace(item: Item, opener: Opener): boolean {
  if (item.kind === "attr") return true;
  if (item.kind === "edge") return opener.keyword === "body";
  return (
    !isBlockKeyword(item.keyword) || BLOCKS[item.keyword].in.includes(opener.keyword as BlockKind)
  );
}

/** An item that cannot stand in its block, and is indented no deeper than it, was never meant to: a `}` is missing. */
function checkIndent(s: Scanner, start: number, opener: Opener): void {
  if (s.isFirstOnLine(start) && s.indentOf(start) <= opener.indent(s)) s.unclosed = true;
}

/** Behind an item a line ends, or its block does. */
function checkLineEnd(s: Scanner): void {
  const code = s.peek();
  if (code === LINE_END || code === TEXT_END || code === 125) return;
  const at = s.pos;
  const end = s.tokenEndAt(at);
  const isLast =
    code === 44 && (isLastOnLine(s, end) || s.src.charCodeAt(firstBehind(s, end)) === 125);
  const isComma = isLast || (code === 44 && beginsItem(s, firstBehind(s, end)));
  const startsItem = isComma || beginsItem(s, at);
  const hint = startsItem ? undefined : hintForRest(s, at);
  s.error("FLOW1015", at, end, {
    parts: { found: s.tokenText(at, end) },
    hint,
    fix: startsItem
      ? isComma
        ? replacement("remove ,", at, end, isLast ? "" : s.lineBreak(at))
        : replacement("start a new line", at, at, s.lineBreak(at))
      : undefined,
  });
  if (isComma) s.pos = end;
  else if (!startsItem) {
    const stop = findSeparator(s.src, at, s.itemIndent);
    s.pos = stop === -1 ? s.lineEnd(at) : stop;
    if (s.src.charCodeAt(s.pos) === 44) s.pos = s.lineEnd(at);
    s.report.dropped.push({ start: at, end: s.pos });
  }
}

function isLastOnLine(s: Scanner, at: number): boolean {
  const code = s.src.charCodeAt(firstOfLine(s.src, at));
  return code === 10 || code === 35 || Number.isNaN(code);
}

function readBareItem(s: Scanner, start: number, opener: Opener | undefined): FreshItem {
  const policy = s.src.charCodeAt(start) === 64;
  if (policy) s.pos += 1;
  const nameStart = s.pos;
  const name = readName(s);
  if (name === undefined) return unexpectedStart(s);
  const nameEnd = s.tokenEnd;
  const code = s.peek();
  const next = s.src.charCodeAt(s.pos + 1);
  if (!policy && isArrow(s, code, next)) return readEdge(s, start, name, nameEnd);
  if (code === 44 || code === 38) severalEnds(s);
  const isBlock = code !== 61 && (code !== 58 || !isFieldSlip(name, opener, policy));
  if (isBlock && !policy) return readBlock(s, start, name, nameEnd, opener);
  if (isBlock) noEqualsSign(s, nameEnd, opener?.keyword === "node" && isPolicy(name));
  const signStart = s.pos;
  s.pos += 1;
  if (code === 58 && next === 61) s.pos += 1;
  while (code === 61 && s.src.charCodeAt(s.pos) === 61) s.pos += 1;
  const fix = replacement("write =", nameEnd, s.pos, " =");
  if (code === 58) s.error("FLOW1108", signStart, s.pos, { fix });
  else if (next === 61) {
    const found = s.tokenText(signStart, s.pos);
    s.error("FLOW1006", signStart, s.pos, { parts: { what: "`=`", found }, fix });
  }
  const value = s.readValue(true);
  return {
    kind: "attr",
    policy,
    name,
    nameStart,
    nameEnd,
    value,
    start,
    end: s.tokenEnd,
    lead: NO_COMMENTS,
    blank: false,
    trailingComment: undefined,
  };
}

/** `name:` where only a field can be meant: everywhere but before the type of a block. */
function isFieldSlip(name: string, opener: Opener | undefined, policy: boolean): boolean {
  if (policy || !isBlockKeyword(name)) return true;
  return !BLOCKS[name].in.some((place) => place === (opener?.keyword ?? "file"));
}

const NO_LABELS: Label[] = [];

/** A block whose word is read. */
function readBlock(
  s: Scanner,
  start: number,
  keyword: string,
  keywordEnd: number,
  opener: Opener | undefined,
): FreshItem {
  const rule = isBlockKeyword(keyword) ? BLOCKS[keyword] : undefined;
  if (!rule && aliasOf(keyword, BLOCK_HINTS) !== undefined && isStatement(s, keywordEnd)) {
    statement(s, start, keyword, keywordEnd);
  }
  const labels = atLabel(s) ? [readLabel(s)] : NO_LABELS;
  while (labels.length > 0 && atLabel(s)) {
    if (labels.length === rule?.labels) {
      if (rule.type === "none") s.expected("`{`");
      break;
    }
    labels.push(readLabel(s));
  }
  const behindWord = labels[0];
  if (!rule && behindWord && labels.length === 1 && arrowEnd(s.src, firstBehind(s, s.pos)) !== -1) {
    return edgeBehindWord(s, start, behindWord);
  }
  let type: TypeNode | undefined;
  if (s.peek() === 58) {
    s.pos += 1;
    type = readType(s);
  } else if (rule && rule.type !== "none" && labels.length === rule.labels) {
    type = typeWithoutColon(s, rule);
  }
  let value: BlockItem["value"];
  if (s.peek() === 61) {
    s.pos += 1;
    value = s.readValue(true);
  } else if (rule?.value === "needed" && labels.length > 0) s.expected("`=` and a value");
  const code = s.peek();
  const inAttributes = opener !== undefined && opener.keyword !== "body";
  if (!rule && code !== 123 && (labels.length === 0 || inAttributes)) {
    noEqualsSign(s, keywordEnd, opener?.keyword === "node" || opener?.keyword === "flow");
  }
  let items: Item[] | undefined;
  let foot: readonly Comment[] = NO_COMMENTS;
  if (code === 123) {
    const at = s.pos;
    const isFree = opener === undefined || (opener.keyword === "body" && keyword === "node");
    if (!isFree) s.enter(at);
    s.pos += 1;
    const hoisted = s.takeComments();
    const mark = s.stack.length;
    foot = readBlockItems(s, new Opener(keyword, at, start));
    items = s.stack.splice(mark) as Item[];
    s.startItem(start);
    s.giveComments(hoisted);
    if (!isFree) s.depth -= 1;
  }
  return {
    kind: "block",
    keyword,
    keywordEnd,
    labels,
    type,
    value,
    items,
    foot,
    start,
    end: s.tokenEnd,
    lead: NO_COMMENTS,
    blank: false,
    trailingComment: undefined,
  };
}

function atLabel(s: Scanner): boolean {
  const code = s.peek();
  return isNameStart(code) || code === 34 || isDigit(code) || closesSingle(s);
}

function readLabel(s: Scanner): Label {
  const start = s.pos;
  if (isDigit(s.peek())) {
    const end = s.tokenEndAt(start);
    s.pos = s.tokenEnd = end;
    return { text: s.src.slice(start, end), digits: true, start, end };
  }
  const text = readName(s) as string;
  return { text, digits: false, start, end: s.tokenEnd };
}

/** A block that ran to the end, or to a line that is not inside it. */
function unclosed(s: Scanner, opener: Opener): void {
  s.unclosed = true;
  if (!s.guided) return;
  s.closedByGuide = true;
  const at = s.lineStart(s.pos);
  const isEnd = s.pos >= s.src.length;
  const where = isEnd ? s.src.length : at;
  const indent = " ".repeat(opener.indent(s));
  const lineBreak = isEnd && s.src.charCodeAt(where - 1) !== 10 ? "\n" : "";
  const next = isEnd ? "the end" : s.tokenText(s.pos, s.tokenEndAt(s.pos));
  s.error("FLOW1016", opener.at, opener.at + 1, {
    fix: replacement(`add } before ${next}`, where, where, `${lineBreak}${indent}}\n`),
  });
}
