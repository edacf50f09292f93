/** Comments and empty lines: what is written beside values and items, and means nothing to the graph. */
import { append } from "../data.ts";
import type { Expression, ListExpression, ObjectExpression } from "./ast.ts";

/** One `#` line; `text` is what follows the `#`. `blank`: an empty line stands before it. */
export interface Comment {
  readonly text: string;
  readonly blank: boolean;
}

/** Comments before something, whether an empty line stands directly before it, and the comment after it on its line. */
export interface Notes {
  readonly lead: readonly Comment[];
  readonly blank: boolean;
  readonly trailingComment: string | undefined;
}

/** Notes of a list or object in value position; present only where there is a comment or an empty line. */
export interface CollectionNotes {
  readonly elements: readonly (Notes | undefined)[];
  readonly foot: readonly Comment[];
}

/** A list or object as the parser leaves it in value position. */
export type Collection = (ListExpression | ObjectExpression) & { readonly notes?: CollectionNotes };

export const NO_COMMENTS: readonly Comment[] = [];

/** Notes of something new: none. */
export const NO_NOTES: Notes = { lead: NO_COMMENTS, blank: false, trailingComment: undefined };

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
    if (own?.trailingComment !== undefined)
      comments.push({ text: own.trailingComment, blank: false });
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
