/** What tells an item from its neighbours. */

import { BLOCKS, isBlockKeyword } from "../language/blocks.ts";
import type { AttrItem, BlockItem, Item } from "../language/items.ts";
import { edgeKey } from "../read/edges.ts";

/** Identity of an item among its neighbours. */
export function keyOf(item: Item): string {
  if (item.kind === "attr") return attrKey(item);
  if (item.kind === "block") {
    return blockKey(item.keyword, isNamed(item) ? (item.labels.at(-1)?.text ?? "") : "");
  }
  const [from, to] = item.ends;
  return `edge ${edgeKey(from?.node ?? "", from?.port ?? "out", to?.node ?? "")}`;
}

/** Whether a block is one of several of its kind, told apart by their names. */
function isNamed({ keyword }: BlockItem): boolean {
  return !isBlockKeyword(keyword) || BLOCKS[keyword].labels === 1;
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
