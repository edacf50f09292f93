/** Context of a cursor, found from the words around it: block, attribute, containers of a value. */

import type { BodyModel, NodeModel } from "../../check/model/bodies.ts";
import { type BlockKind, isBlockKeyword } from "../../language/blocks.ts";
import type { Span } from "../../syntax/ast.ts";
import { isNamePart } from "../../syntax/chars.ts";
import { quoteText } from "../../syntax/print-expression.ts";
import { type CursorPlace, type Level, placeAt } from "../cursor-place.ts";
import type { Reading } from "../reading.ts";

/** The block around the cursor. */
export interface BlockContext {
  readonly kind: BlockKind | undefined;
  /** The innermost node whose block the cursor is in, as far as it could be read. */
  readonly node: NodeModel | undefined;
  /** The body in which names are looked up, and in which a new node would stand. */
  readonly body: BodyModel;
  /** Start of the block's items. */
  readonly start: number;
  /** The level of the item that the cursor is in. */
  readonly level: Level;
  /** Levels of the value inside that item. */
  readonly inner: readonly Level[];
}

/** A cursor with all that words tell about it. */
export interface CursorContext {
  readonly reading: Reading;
  readonly offset: number;
  readonly place: CursorPlace;
  readonly block: BlockContext;
  /** The identifier around the cursor; in a string all of its text. */
  readonly from: number;
  readonly to: number;
  /** Text of the item from its start to the identifier, without what stands in front of it. */
  readonly before: string;
}

/** Looks around a cursor. */
export function contextAt(reading: Reading, offset: number): CursorContext {
  const { text } = reading;
  const place = placeAt(text, offset);
  const { start: from, end: to } = stretchAt(text, offset, place);
  const block = blockOf(reading, place.levels);
  const before = text.slice(block.level.itemStart, from).trimStart();
  return { reading, offset, place, block, from, to, before };
}

/** The range that a completion replaces. */
function stretchAt(text: string, offset: number, { inside, start }: CursorPlace): Span {
  let from = offset;
  while (from > 0 && isWordPart(text, from - 1)) from -= 1;
  let to = offset;
  while (to < text.length && isWordPart(text, to)) to += 1;
  if (inside !== "string") return { start: from, end: to };
  const close = closeOf(text, start);
  return { start: start + 1, end: close === undefined || close < offset ? to : close };
}

/** A text as a string; inside of one without the quotes that are there. */
export function stringAt({ reading, place, to }: CursorContext, text: string): string {
  const quoted = quoteText(text);
  if (place.inside !== "string") return quoted;
  return quoted.slice(1, closeOf(reading.text, place.start) === to ? -1 : undefined);
}

/** Where the quote stands that closes a string on its line; undefined: there is none. */
function closeOf(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length && text[at] !== "\n"; at += 1) {
    if (text[at] === text[start]) return at;
    if (text[at] === "\\") at += 1;
  }
  return undefined;
}

/** Letters, digits, `_`, and `-` between two of them. */
function isWordPart(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (isNamePart(code)) return true;
  return code === 45 && isNamePart(text.charCodeAt(at - 1)) && text[at + 1] !== ">";
}

/** A name as a label spells it, as the source of a pattern. */
export const LABEL: string = String.raw`(?:"(?:[^"\\\n]|\\.)*"|[\w-]+)`;
const HEAD = new RegExp(String.raw`^\s*([A-Za-z_][\w-]*)(?:\s+(${LABEL}))?`);

function blockOf(reading: Reading, levels: readonly Level[]): BlockContext {
  const { text, model } = reading;
  let kind: BlockKind | undefined = "file";
  let node: NodeModel | undefined;
  let body: BodyModel = model.root;
  let start = 0;
  let index = 0;
  for (; levels[index + 1]?.kind === "block"; index += 1) {
    const { itemStart } = levels[index] as Level;
    const inner = levels[index + 1] as Level;
    const [, keyword = "", label = ""] = HEAD.exec(text.slice(itemStart, inner.at)) ?? [];
    kind = isBlockKeyword(keyword) ? keyword : undefined;
    start = inner.at + 1;
    if (keyword === "node") node = body.byId.get(labelText(label));
    else if (keyword === "body") body = node?.inner ?? body;
  }
  const level = levels[index] as Level;
  return { kind, node, body, start, level, inner: levels.slice(index + 1) };
}

/** The name that a label spells; a string that is none by JSON is taken as it stands. */
export function labelText(label: string): string {
  if (!label.startsWith('"')) return label;
  try {
    return String(JSON.parse(label));
  } catch {
    return label.slice(1, -1);
  }
}
