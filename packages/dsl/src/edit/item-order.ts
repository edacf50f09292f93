/** Where items stand after an edit, and what stays at the head of a section. */

import type { BlockKind } from "../language/blocks.ts";
import type { Item } from "../language/items.ts";
import { sectionOf } from "../write/canonical.ts";
import { movedHead } from "./merge-values.ts";

/**
 * Sections of which nothing stays and something is new: the index behind their last old item, and the key of the first that is
 * new, which takes over the comments that stay.
 */
export function replacedSections(
  old: readonly Item[],
  keys: readonly (string | undefined)[],
  after: readonly (readonly [string, Item])[],
  place: BlockKind,
): ReadonlyMap<number, string> {
  const section = sectionIn(place);
  const ends = new Map<string, number>();
  for (const [index, item] of old.entries()) {
    if (keys[index] === undefined) ends.set(section(item), index + 1);
  }
  if (ends.size === 0) return NONE_REPLACED;
  for (const [index, item] of old.entries()) {
    if (keys[index] !== undefined) ends.delete(section(item));
  }
  const replaced = new Map<number, string>();
  for (const [key, item] of after) {
    const end = ends.get(section(item));
    if (end !== undefined && !replaced.has(end)) replaced.set(end, key);
  }
  return replaced;
}

const NONE_REPLACED: ReadonlyMap<number, string> = new Map();

function sectionIn(place: BlockKind): (item: Item) => string {
  return (item) => (place === "file" || place === "body" ? sectionOf(item, place) : "");
}

/** Comments at the head of a section, parted from its first item, stay there whichever item comes first. */
export function withHeads(
  items: readonly Item[],
  survivors: readonly (readonly [string, Item])[],
  place: BlockKind,
): readonly Item[] {
  const section = sectionIn(place);
  const first = firstOf(items, section);
  const moved = new Map<Item, Item>();
  for (const [name, wasFirst] of firstOf(
    survivors.map(([, item]) => item),
    section,
  )) {
    const now = first.get(name) as Item;
    const heads = now === wasFirst ? undefined : movedHead(wasFirst, now);
    if (!heads) continue;
    moved.set(wasFirst, { ...wasFirst, ...heads.wasFirst });
    moved.set(now, { ...now, ...heads.first });
  }
  return moved.size === 0 ? items : items.map((item) => moved.get(item) ?? item);
}

/** The first item of each section. */
function firstOf(
  items: readonly Item[],
  section: (item: Item) => string,
): ReadonlyMap<string, Item> {
  const first = new Map<string, Item>();
  for (const item of items) {
    const name = section(item);
    if (!first.has(name)) first.set(name, item);
  }
  return first;
}

/** The graph's order; what the graph does not know follows the item that it followed. */
export function inGraphOrder(
  survivors: readonly (readonly [string, Item])[],
  after: readonly (readonly [string, Item])[],
): Item[] {
  const written = new Map(survivors);
  const graph = new Map(after);
  return interleave(
    after.map(([key, item]) => [key, written.get(key) ?? item]),
    survivors,
    (key) => graph.has(key),
  );
}

/** The author's order; what is new follows the item that it follows in the graph. */
export function inWrittenOrder(
  survivors: readonly (readonly [string, Item])[],
  after: readonly (readonly [string, Item])[],
): Item[] {
  const written = new Map(survivors);
  return interleave(survivors, after, (key) => written.has(key));
}

/** `main`, and behind each item those of `others` that follow it and are not in `main`. */
function interleave(
  main: readonly (readonly [string, Item])[],
  others: readonly (readonly [string, Item])[],
  inMain: (key: string) => boolean,
): Item[] {
  const following = new Map<string, Item[]>();
  let anchor = "";
  for (const [key, item] of others) {
    if (inMain(key)) anchor = key;
    else {
      const list = following.get(anchor);
      if (list) list.push(item);
      else following.set(anchor, [item]);
    }
  }
  return [
    ...(following.get("") ?? []),
    ...main.flatMap(([key, item]) => [item, ...(following.get(key) ?? [])]),
  ];
}
