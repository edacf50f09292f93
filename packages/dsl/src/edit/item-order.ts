/** Identity of items, their position after an edit, and the comments that stay at the head of a section. */

import { BLOCKS, type BlockKind, isBlockKeyword } from "../language/blocks.ts";
import type { AttrItem, Item } from "../language/items.ts";
import { edgeKey } from "../read/declared.ts";
import { sectionOf } from "../write/canonical.ts";
import { movedHead } from "./carry-comments.ts";

/** Identity of an item among its neighbours. */
export function keyOf(item: Item): string {
  if (item.kind === "attr") return attrKey(item);
  if (item.kind === "block") {
    const { keyword, labels } = item;
    // Of several blocks of a kind the names tell which is which.
    const isNamed = !isBlockKeyword(keyword) || BLOCKS[keyword].labels === 1;
    return blockKey(keyword, isNamed ? (labels.at(-1)?.text ?? "") : "");
  }
  const [from, to] = item.ends;
  return `edge ${edgeKey(from?.node ?? "", from?.port ?? "out", to?.node ?? "")}`;
}

/** The key of an attribute. */
export function attrKey(item: AttrItem): string {
  return `${item.policy ? "@" : "="}${item.name}`;
}

/** The key of a block. */
export function blockKey(keyword: string, label: string): string {
  return `${keyword} ${label}`;
}

/** Items with their keys; the second of a kind is another one than the first. */
export function keyed(items: readonly Item[], key: (item: Item) => string): [string, Item][] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const own = key(item);
    const count = counts.get(own) ?? 0;
    counts.set(own, count + 1);
    return [`${count} ${own}`, item];
  });
}

/** Whether only the first of its kind counts. */
export function standsOnce(item: Item): boolean {
  if (item.kind === "attr") return true;
  return item.kind === "block" && (item.keyword === "layout" || item.keyword === "body");
}

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
  return interleaved(
    after.map(([key, item]) => [key, written.get(key) ?? item]),
    survivors,
  );
}

/** `main`, and behind each of them those of `others` that follow it there and are not in `main`. */
export function interleaved<T>(
  main: readonly (readonly [key: string, thing: T])[],
  others: readonly (readonly [key: string, thing: T])[],
): T[] {
  const known = new Set(main.map(([key]) => key));
  const following = new Map<string | undefined, T[]>();
  let anchor: string | undefined;
  for (const [key, thing] of others) {
    if (known.has(key)) anchor = key;
    else {
      const list = following.get(anchor);
      if (list) list.push(thing);
      else following.set(anchor, [thing]);
    }
  }
  if (following.size === 0) return main.map(([, thing]) => thing);
  const behind = (key: string | undefined): readonly T[] => following.get(key) ?? [];
  return [...behind(undefined), ...main.flatMap(([key, thing]) => [thing, ...behind(key)])];
}
