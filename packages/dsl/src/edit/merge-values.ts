/**
 * An edited value over the one that was written: where both hold the same, the writing stays; where they differ, only what
 * differs is new.
 */

import { canonicalJson } from "@millrace/contracts/kit";
import { toFieldValue } from "../language/field-value.ts";
import type { Expression, ObjectExpression } from "../syntax/ast.ts";
import {
  type Collection,
  elementsOf,
  isCollection,
  NO_NOTES,
  type Notes,
  notesOf,
} from "../syntax/notes.ts";
import { carryComments, movedHead } from "./carry-comments.ts";
import { interleaved } from "./item-order.ts";

/** The written value `old` brought to what `fresh` says. */
export function mergeValue(old: Expression, fresh: Expression): Expression {
  if (identity(old) === identity(fresh)) return old;
  if (!isCollection(old) || !isCollection(fresh) || old.kind !== fresh.kind) return fresh;
  return old.kind === "list"
    ? mergeLists(old, fresh)
    : mergeObjects(old, fresh as ObjectExpression);
}

function identity(e: Expression): string {
  return canonicalJson(toFieldValue(e, "", undefined));
}

/** Elements match by equal value, in order, then by index. */
function mergeLists(old: Collection, fresh: Collection): Expression {
  const before = elementsOf(old);
  const after = elementsOf(fresh);
  const places = new Map<string, { readonly indexes: number[]; next: number }>();
  for (const [index, element] of before.entries()) {
    const key = identity(element);
    const known = places.get(key);
    if (known) known.indexes.push(index);
    else places.set(key, { indexes: [index], next: 0 });
  }
  const matches: (number | undefined)[] = [];
  const used = new Set<number>();
  let last = -1;
  for (const element of after) {
    const equal = places.get(identity(element));
    while (equal && (equal.indexes[equal.next] ?? Infinity) <= last) equal.next += 1;
    const match = equal?.indexes[equal.next];
    matches.push(match);
    if (match !== undefined) {
      used.add(match);
      last = match;
    }
  }
  for (const [index, match] of matches.entries()) {
    if (match !== undefined || index >= before.length || used.has(index)) continue;
    matches[index] = index;
    used.add(index);
  }
  const rows = after.map((element, index) => {
    const match = matches[index];
    return {
      from: match,
      key: "",
      value: match === undefined ? element : mergeValue(before[match] as Expression, element),
    };
  });
  return rebuild(old, rows);
}

/** Members match by key and stay in the author's order; new ones follow their neighbour in the graph. */
function mergeObjects(old: Collection & ObjectExpression, fresh: ObjectExpression): Expression {
  const wanted = new Map(fresh.entries.map((entry) => [entry.key, entry.value]));
  const written = old.entries.map(({ key, value }, from): [string, Row | undefined] => {
    const now = wanted.get(key);
    wanted.delete(key); // of a key that is set twice the first counts
    return [key, now && { from, key, value: mergeValue(value, now) }];
  });
  const added = fresh.entries.map(({ key, value }): [string, Row] => [
    key,
    { from: undefined, key, value },
  ]);
  const rows = interleaved<Row | undefined>(written, added);
  return rebuild(
    old,
    rows.filter((row) => row !== undefined),
  );
}

interface Row {
  /** Index in the old collection. */
  readonly from: number | undefined;
  readonly key: string;
  readonly value: Expression;
}

/** A collection of rows, with the notes of the old one moved to where its elements are now. */
function rebuild(old: Collection, rows: readonly Row[]): Expression {
  const { start, end } = old;
  const made: Expression =
    old.kind === "list"
      ? { kind: "list", elements: rows.map(({ value }) => value), start, end }
      : { kind: "object", entries: rows.map(({ key, value }) => ({ key, value })), start, end };
  const notes = notesOf(old);
  if (!notes) return made;
  const kept = new Set(rows.map(({ from }) => from));
  const { leads, foot } = carryComments(
    notes.elements.map((own, index) => ({ notes: own ?? NO_NOTES, isKept: kept.has(index) })),
    notes.foot,
  );
  const elements = rows.map(({ from }) => (from === undefined ? undefined : leads[from]));
  const wasFirst = leads.findIndex((_, index) => kept.has(index));
  const at = rows.findIndex(({ from }) => from === wasFirst);
  const heads = at > 0 ? movedHead(leads[wasFirst] as Notes, elements[0] ?? NO_NOTES) : undefined;
  if (heads) [elements[0], elements[at]] = [heads.first, heads.wasFirst];
  return { ...made, notes: { elements, foot } } as Collection;
}
