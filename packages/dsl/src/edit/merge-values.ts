/**
 * An edited value over the one that was written: where both hold the same, the writing stays; where they differ, only what
 * differs is new.
 */

import { canonicalJson } from "@millrace/contracts/kit";
import { append } from "../data.ts";
import { toFieldValue } from "../language/field-value.ts";
import type { Expression, ObjectExpression } from "../syntax/ast.ts";
import {
  type Collection,
  type Comment,
  elementsOf,
  isCollection,
  NO_COMMENTS,
  NO_NOTES,
  type Notes,
  notesOf,
} from "../syntax/notes.ts";

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
  const known = new Set(old.entries.map((entry) => entry.key));
  const added = new Map<string | undefined, Row[]>();
  let anchor: string | undefined;
  for (const { key, value } of fresh.entries) {
    if (known.has(key)) anchor = key;
    else {
      const row: Row = { from: undefined, key, value };
      const rows = added.get(anchor);
      if (rows) rows.push(row);
      else added.set(anchor, [row]);
    }
  }
  const rows: Row[] = [...(added.get(undefined) ?? [])];
  for (const [from, { key, value }] of old.entries.entries()) {
    const now = wanted.get(key);
    if (now) rows.push({ from, key, value: mergeValue(value, now) });
    wanted.delete(key);
    append(rows, added.get(key) ?? []);
    added.delete(key);
  }
  return rebuild(old, rows);
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

/**
 * Comments of things of which some go. One that goes takes its comments along, but a paragraph of comments that an empty
 * line parts from it stays, in front of the next that is kept or at the foot. `inserted`: by its index, the key of something
 * new before which they stay too; `headed` has its notes.
 */
export function carryComments(
  things: readonly { readonly notes: Notes; readonly isKept: boolean }[],
  foot: readonly Comment[],
  inserted: ReadonlyMap<number, string> = new Map(),
): { leads: Notes[]; headed: ReadonlyMap<string, Notes>; foot: readonly Comment[] } {
  const headed = new Map<string, Notes>();
  let carried: Comment[] = [];
  let gap = false;
  const insert = (index: number): void => {
    const key = carried.length > 0 ? inserted.get(index) : undefined;
    if (key === undefined) return;
    headed.set(key, withCarried(NO_NOTES, carried, gap));
    carried = [];
    gap = false;
  };
  const leads = things.map(({ notes, isKept }, index) => {
    insert(index);
    if (isKept) {
      const moved = carried.length === 0 && !gap ? notes : withCarried(notes, carried, gap);
      carried = [];
      gap = false;
      return moved;
    }
    gap ||= notes.lead[0]?.blank ?? notes.blank;
    const [first, ...others] = partedComments(notes);
    if (first) {
      carried.push(gap ? { ...first, blank: true } : first);
      append(carried, others);
      gap = true;
    }
    return notes;
  });
  insert(things.length);
  if (carried.length === 0) return { leads, headed, foot };
  return { leads, headed, foot: [...parted(carried), ...parted(foot)] };
}

/** Comments with an empty line before the first. */
function parted(comments: readonly Comment[]): readonly Comment[] {
  return comments.map((comment, index) => (index === 0 ? { ...comment, blank: true } : comment));
}

/**
 * Comments at the head of some things, parted from the one that stood first there, stay at the head when another comes first.
 * Undefined: there are none.
 */
export function movedHead(
  wasFirst: Notes,
  first: Notes,
): { readonly wasFirst: Notes; readonly first: Notes } | undefined {
  const head = partedComments(wasFirst);
  if (head.length === 0) return undefined;
  const { blank, trailingComment } = wasFirst;
  return {
    wasFirst: { lead: wasFirst.lead.slice(head.length), blank, trailingComment },
    first: withCarried(first, head, true),
  };
}

function withCarried(notes: Notes, carried: readonly Comment[], gap: boolean): Notes {
  const [first, ...others] = notes.lead;
  const lead = first ? [{ ...first, blank: first.blank || gap }, ...others] : NO_COMMENTS;
  return {
    lead: [...carried, ...lead],
    blank: first ? notes.blank : notes.blank || gap,
    trailingComment: notes.trailingComment,
  };
}

/** The comments before the last empty line above an item. */
function partedComments(notes: Notes): readonly Comment[] {
  if (notes.blank) return notes.lead;
  let last = notes.lead.length - 1;
  while (last > 0 && !notes.lead[last]?.blank) last -= 1;
  return last > 0 ? notes.lead.slice(0, last) : [];
}
