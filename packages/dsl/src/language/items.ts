/**
 * The text as a tree of items. It keeps what the graph has no room for: comments, empty lines, offsets, the order and
 * spelling of the author. Everything in it is plain data, so a document survives a structured clone.
 * Offsets are UTF-16 units into the source.
 */

import type { Expression } from "../syntax/ast.ts";
import type { Collection, Comment, Notes } from "../syntax/notes.ts";

interface ItemBase extends Notes {
  readonly start: number;
  readonly end: number;
}

/** `name = value` or `@name = value`. */
export interface AttrItem extends ItemBase {
  readonly kind: "attr";
  readonly policy: boolean;
  readonly name: string;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly value: Expression;
}

/** `node` or `node.port` in an edge. */
export interface EdgeEnd {
  readonly node: string;
  readonly port: string | undefined;
  readonly start: number;
  readonly nodeEnd: number;
  readonly end: number;
}

/** `a -> b -> c { … }`. */
export interface EdgeItem extends ItemBase {
  readonly kind: "edge";
  readonly ends: readonly EdgeEnd[];
  readonly meta: Collection | undefined;
}

/** A name after the word of a block; `digits`: written as a number, as the version of the language is. */
export interface Label {
  readonly text: string;
  readonly digits: boolean;
  readonly start: number;
  readonly end: number;
}

/** `word label: type = value { items }`. `items` is absent when there are no braces. */
export interface BlockItem extends ItemBase {
  readonly kind: "block";
  readonly keyword: string;
  readonly keywordEnd: number;
  readonly labels: readonly Label[];
  readonly type: TypeNode | undefined;
  readonly value: Expression | undefined;
  readonly items: readonly Item[] | undefined;
  readonly foot: readonly Comment[];
}

/** An item of the file as it is printed, with what decides about the empty line before it. */
export interface PrintedItem {
  /** With its comments, and without a final line end. */
  readonly text: string;
  /** The author had an empty line before it. */
  readonly blank: boolean;
  /** Whether it has braces. */
  readonly hasBlock: boolean;
}

export type Item = AttrItem | EdgeItem | BlockItem;

/** The blocks of a keyword among some items. */
export function blocksOf(items: readonly Item[] | undefined, keyword: string): BlockItem[] {
  return (items ?? []).filter(
    (item): item is BlockItem => item.kind === "block" && item.keyword === keyword,
  );
}

/** An item whose notes are set once its line has been read. */
export type FreshItem = {
  [K in Item["kind"]]: Omit<Extract<Item, { kind: K }>, keyof Notes>;
}[Item["kind"]] & { -readonly [K in keyof Notes]: Notes[K] };

interface TypeSpan {
  readonly start: number;
  readonly end: number;
}

/** A type as written. */
export type TypeNode =
  | (TypeSpan & {
      readonly kind: "name";
      readonly name: string;
      readonly nameEnd: number;
      readonly version: number | undefined;
    })
  | (TypeSpan & { readonly kind: "array" | "optional"; readonly of: TypeNode })
  | (TypeSpan & { readonly kind: "object"; readonly fields: readonly TypeField[] });

export interface TypeField {
  readonly name: string;
  readonly type: TypeNode;
  readonly start: number;
}
