/**
 * The text as a tree of items. It keeps what the graph has no room for: comments, empty lines, offsets, the order and
 * spelling of the author. Everything in it is plain data, so a document survives a structured clone.
 * Offsets are UTF-16 units into the source.
 */

import type { Json } from "@millrace/contracts";
import { append } from "../append.ts";
import type { Expression, ListExpression, ObjectExpression } from "../expression/ast.ts";

/** One `#` line; `text` is what follows the `#`. `blank`: an empty line stands before it. */
export interface Comment {
  readonly text: string;
  readonly blank: boolean;
}

/** Comments before something, whether an empty line stands directly before it, and the comment after it on its line. */
export interface Notes {
  readonly lead: readonly Comment[];
  readonly blank: boolean;
  readonly trail: string | undefined;
}

/** Notes of a list or object in value position; present only where there is a comment or an empty line. */
export interface CollectionNotes {
  readonly elements: readonly (Notes | undefined)[];
  readonly foot: readonly Comment[];
}

/** A list or object as the parser leaves it in value position. */
export type Collection = (ListExpression | ObjectExpression) & { readonly notes?: CollectionNotes };

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
  /** The value in graph form, where it was read straight into it; `value` says nothing then. */
  readonly data: Json | undefined;
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
  readonly word: string;
  readonly wordEnd: number;
  readonly labels: readonly Label[];
  readonly type: TypeNode | undefined;
  readonly value: Expression | undefined;
  readonly items: readonly Item[] | undefined;
  readonly foot: readonly Comment[];
}

export type Item = AttrItem | EdgeItem | BlockItem;

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

export const NO_COMMENTS: readonly Comment[] = [];

/** Notes of something new: none. */
export const NO_NOTES: Notes = { lead: NO_COMMENTS, blank: false, trail: undefined };

/** The notes of a list or object, if it has any. */
export function notesOf(expression: Expression): CollectionNotes | undefined {
  return (expression as Collection).notes;
}

/** Whether an expression is written with `[ ]` or `{ }`. */
export function isCollection(expression: Expression): expression is Collection {
  return expression.kind === "list" || expression.kind === "object";
}

/** The values inside a collection, in order. */
export function elementsOf(collection: Collection): readonly Expression[] {
  return collection.kind === "list"
    ? collection.elements
    : collection.entries.map((entry) => entry.value);
}

/** A collection without its notes, at every level, and the comments that were in them, in order. */
export function withoutNotes(expression: Expression, comments: Comment[]): Expression {
  if (!isCollection(expression)) return expression;
  const notes = expression.notes;
  const strip = (value: Expression, index: number): Expression => {
    const own = notes?.elements[index];
    if (own) append(comments, own.lead);
    const stripped = withoutNotes(value, comments);
    if (own?.trail !== undefined) comments.push({ text: own.trail, blank: false });
    return stripped;
  };
  const { start, end } = expression;
  const plain: Expression =
    expression.kind === "list"
      ? { kind: "list", elements: expression.elements.map(strip), start, end }
      : {
          kind: "object",
          entries: expression.entries.map((entry, index) => ({
            key: entry.key,
            value: strip(entry.value, index),
          })),
          start,
          end,
        };
  if (notes) append(comments, notes.foot);
  return plain;
}
