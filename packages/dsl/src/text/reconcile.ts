/**
 * `reconcile`: an edited graph back into the text that it came from.
 *   R1  what the graph says, the text says afterwards.
 *   R2  what did not change keeps its comments, its empty lines and its place.
 *   R3  items that never were in the graph, such as unknown blocks, stay.
 */
import type { FlowGraph } from "@millrace/contracts";
import { DslError } from "../errors.ts";
import { sectionOf, toOrder } from "./canonical.ts";
import { dataOf, type FlowDocument } from "./document.ts";
import { edgeKey } from "./edges.ts";
import { itemsOf } from "./from-graph.ts";
import { carryComments, mergeValue, movedHead } from "./merge-values.ts";
import { parseFlow } from "./parse.ts";
import { printItems } from "./print.ts";
import { readText } from "./read.ts";
import { Sections, toSections } from "./sections.ts";
import type { AttrItem, BlockItem, Collection, Comment, EdgeItem, Item } from "./tree.ts";
import { isBlockWord, type Place } from "./words.ts";

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /** Node path before to node path after, such as `{ "pages/get": "pages/fetch" }`. */
  readonly renames?: { readonly [path: string]: string };
}

/**
 * The document with the graph's content: comments, empty lines and order of what is still there, new items after their
 * neighbour in the graph. Throws `DslError` code `graph_invalid` for a value that is no `FlowGraph`.
 */
export function reconcile(
  document: FlowDocument,
  graph: FlowGraph,
  options: ReconcileOptions = {},
): FlowDocument {
  const { source, limits } = dataOf(document);
  const { sink, foot, graph: known } = readText(source, limits, { sink: () => new ItemList() });
  const items = sink?.items ?? [];
  const old = new Sections<Item>("file", (item) => item);
  for (const item of items) old.add(item);
  const written = old.inOrder().flatMap(withoutGap);
  const base = toSections(knownItems(known), "file", old.connected).flat();
  const fresh = toSections(itemsOf(graph), "file", old.connected).flat();
  const merge = new Merge(options.renames ?? {});
  const merged = merge.items(written, base, fresh, { place: "file", path: undefined }, [
    ...old.behind,
    ...foot,
  ]);
  return parseFlow(printItems(merged.items, merged.foot)).document;
}

class ItemList {
  readonly items: Item[] = [];

  add(item: Item): void {
    this.items.push(item);
  }
}

/** What the document's own graph says; an item that is not in it never was in the graph. */
function knownItems(graph: FlowGraph): Item[] {
  try {
    return itemsOf(graph);
  } catch (thrown) {
    if (DslError.isInstance(thrown)) return [];
    throw thrown;
  }
}

interface Where {
  readonly place: Place;
  /** Path of the node around, as it was; undefined: in the file itself. */
  readonly path: string | undefined;
}

interface Merged {
  readonly items: readonly Item[];
  readonly foot: readonly Comment[];
}

class Merge {
  private readonly renames: { readonly [path: string]: string };

  constructor(renames: { readonly [path: string]: string }) {
    this.renames = renames;
  }

  /** Brings the written items to what `fresh` says; `base` is what their graph said before. */
  items(
    old: readonly Item[],
    base: readonly Item[],
    fresh: readonly Item[],
    where: Where,
    foot: readonly Comment[],
  ): Merged {
    const before = keyed(old, (item) => this.oldKey(item, where));
    const were = new Set(keyed(base, (item) => this.oldKey(item, where)).map(([key]) => key));
    const baseByKey = new Map(keyed(base, (item) => this.oldKey(item, where)));
    const after = keyed(fresh, keyOf);
    const wanted = new Map(after);
    const carried = carryComments(
      before.map(([key, item]) => ({ notes: item, isKept: wanted.has(key) || !were.has(key) })),
      foot,
    );
    const survivors: [string, Item][] = [];
    for (const [index, [key, item]] of before.entries()) {
      const now = wanted.get(key);
      if (!now && were.has(key)) continue;
      const { lead, blank, trail } = carried.leads[index] as Item;
      const noted = { ...item, lead, blank, trail };
      const next = now && were.has(key) ? this.item(noted, baseByKey.get(key), now, where) : noted;
      survivors.push([key, next]);
    }
    const isOrdered = where.place === "file" || where.place === "body";
    const items = isOrdered ? inGraphOrder(survivors, after) : inWrittenOrder(survivors, after);
    return { items: withHeads(items, survivors, where.place), foot: carried.foot };
  }

  private item(old: Item, base: Item | undefined, fresh: Item, where: Where): Item {
    if (old.kind === "attr" && fresh.kind === "attr") {
      return { ...old, name: fresh.name, value: mergeValue(old.value, fresh.value) };
    }
    if (old.kind === "edge" && fresh.kind === "edge") return mergeEdge(old, fresh);
    if (old.kind === "block" && fresh.kind === "block") {
      return this.block(old, base?.kind === "block" ? base : fresh, fresh, where);
    }
    return fresh;
  }

  private block(old: BlockItem, base: BlockItem, fresh: BlockItem, where: Where): BlockItem {
    const place: Place = isBlockWord(fresh.word) ? fresh.word : "layout";
    const order = (item: BlockItem): readonly Item[] => inside(item, place);
    const label = old.labels.at(-1)?.text ?? "";
    const path = place === "node" ? joinPath(where.path, label) : where.path;
    const merged = this.items(order(old), order(base), order(fresh), { place, path }, old.foot);
    const value =
      old.value && fresh.value ? mergeValue(old.value, fresh.value) : (fresh.value ?? undefined);
    return {
      ...old,
      labels: fresh.labels,
      type: fresh.type,
      value,
      items: merged.items,
      foot: merged.foot,
    };
  }

  /** The key that an old item has in the new graph, if it is still there. */
  private oldKey(item: Item, where: Where): string {
    if (item.kind === "block" && item.word === "node") {
      return blockKey("node", this.renamed(item.labels.at(-1)?.text ?? "", where));
    }
    if (item.kind === "edge") {
      const [from, to] = item.ends;
      return `edge ${edgeKey(
        this.renamed(from?.node ?? "", where),
        from?.port ?? "out",
        this.renamed(to?.node ?? "", where),
      )}`;
    }
    if (item.kind === "attr" && where.place === "layout") {
      return attrKey({ ...item, name: this.renamedPath(item.name) });
    }
    return keyOf(item);
  }

  /** The new id of the node `id` of the body at `where.path`. */
  private renamed(id: string, where: Where): string {
    const path = joinPath(where.path, id);
    if (!Object.hasOwn(this.renames, path)) return id;
    const next = this.renames[path] as string;
    return where.path === undefined ? next : next.slice(next.lastIndexOf("/") + 1);
  }

  /** A path with the longest renamed beginning replaced. */
  private renamedPath(path: string): string {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const beginning = path.slice(0, end);
      if (Object.hasOwn(this.renames, beginning)) {
        return (this.renames[beginning] as string) + path.slice(end);
      }
    }
    return path;
  }
}

function mergeEdge(old: EdgeItem, fresh: EdgeItem): EdgeItem {
  const meta =
    old.meta && fresh.meta ? (mergeValue(old.meta, fresh.meta) as Collection) : fresh.meta;
  return { ...old, ends: fresh.ends, meta };
}

function inside(item: BlockItem, place: Place): readonly Item[] {
  const items = item.items ?? [];
  return place === "body" ? toSections(items, "body").flatMap(withoutGap) : toOrder(items, place);
}

/** A section whose first item forgets the empty line before it: that one belongs to the section, whoever comes first. */
function withoutGap(section: readonly Item[]): Item[] {
  return section.map((item, index) => {
    if (index > 0) return item;
    const [first, ...others] = item.lead;
    return first
      ? { ...item, lead: [{ ...first, blank: false }, ...others] }
      : { ...item, blank: false };
  });
}

function joinPath(path: string | undefined, id: string): string {
  return path === undefined ? id : `${path}/${id}`;
}

/** Identity of an item among its neighbours. */
function keyOf(item: Item): string {
  if (item.kind === "attr") return attrKey(item);
  if (item.kind === "block") {
    return blockKey(item.word, item.word === "flow" ? "" : (item.labels.at(-1)?.text ?? ""));
  }
  const [from, to] = item.ends;
  return `edge ${edgeKey(from?.node ?? "", from?.port ?? "out", to?.node ?? "")}`;
}

function attrKey(item: AttrItem): string {
  return `${item.policy ? "@" : "="}${item.name}`;
}

function blockKey(word: string, label: string): string {
  return `${word} ${label}`;
}

/** Items with their keys; the second of a kind is another one than the first. */
function keyed(items: readonly Item[], key: (item: Item) => string): [string, Item][] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const own = key(item);
    const count = counts.get(own) ?? 0;
    counts.set(own, count + 1);
    return [`${count} ${own}`, item];
  });
}

/** Comments at the head of a section, parted from its first item, stay there whichever item comes first. */
function withHeads(
  items: readonly Item[],
  survivors: readonly (readonly [string, Item])[],
  place: Place,
): readonly Item[] {
  const section = (item: Item): string =>
    place === "file" || place === "body" ? sectionOf(item, place) : "";
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
function inGraphOrder(
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
function inWrittenOrder(
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
