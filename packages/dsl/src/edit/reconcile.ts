/**
 * `reconcile`: an edited graph back into the text that it came from.
 *   R1  what the graph says, the text says afterwards.
 *   R2  what did not change keeps its comments, its empty lines and its place.
 *   R3  what never was in the graph, such as unknown blocks, stays, unless the graph would then say something else.
 */

import type { FlowGraph } from "@millrace/contracts";
import { checkOptions } from "@millrace/contracts/options";
import { type BlockKind, isBlockKeyword } from "../language/blocks.ts";
import type { BlockItem, Item } from "../language/items.ts";
import { edgeKey } from "../read/declared.ts";
import { dataOf, documentOf, type FlowDocument } from "../read/document.ts";
import { limitsOf } from "../read/parse-flow.ts";
import { readText } from "../read/read-text.ts";
import type { Expression } from "../syntax/ast.ts";
import type { Collection, Comment, Notes } from "../syntax/notes.ts";
import { Sections, toOrder, toSections } from "../write/canonical.ts";
import { itemsOf } from "../write/from-graph.ts";
import { printItems } from "../write/print-flow.ts";
import { carryComments } from "./carry-comments.ts";
import {
  attrKey,
  blockKey,
  inGraphOrder,
  interleaved,
  keyed,
  keyOf,
  replacedSections,
  standsOnce,
  withHeads,
} from "./item-order.ts";
import { mergeValue } from "./merge-values.ts";

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /**
   * Node path before to node path after, such as `{ "pages/get": "pages/fetch" }`. It says which node is which, no more:
   * expressions are those of the graph, and none is rewritten to name the node anew.
   */
  readonly renames?: { readonly [path: string]: string };
}

/**
 * The document with the graph's content: comments, empty lines and order of what is still there, new items after their
 * neighbour in the graph. What could not be read stays while the graph says nothing else in its place. Throws `DslError`
 * code `graph_invalid` for a value that is no `FlowGraph`.
 */
export function reconcile(
  document: FlowDocument,
  graph: FlowGraph,
  options: ReconcileOptions = {},
): FlowDocument {
  checkOptions("reconcile", options, { renames: true });
  const { source, limits } = dataOf(document);
  const { collected, foot, report } = readText(source, limits, { collect: () => new Written() });
  const old = new Sections<Item>("file", (item) => item);
  for (const item of collected.items) old.add(item);
  const written = old.inOrder().flatMap(withoutGap);
  const fresh = toSections(itemsOf(graph), "file", old.connected).flat();
  // After reading has stopped it is not known what else could have been read.
  const merge = new Merge(options.renames ?? {}, report.full ? undefined : collected.taken);
  const merged = merge.items(written, fresh, { place: "file", path: undefined }, [
    ...old.behind,
    ...foot,
  ]);
  return documentOf(printItems(merged.items, merged.foot), limitsOf({}));
}

/** The items of a text, and where the parts of it start that are in the graph. */
class Written {
  readonly items: Item[] = [];
  readonly taken = new Set<number>();

  add(item: Item): void {
    this.items.push(item);
  }
}

interface Where {
  readonly place: BlockKind;
  /** Path of the node around, as it was; undefined: in the file itself. */
  readonly path: string | undefined;
}

interface Merged {
  readonly items: readonly Item[];
  readonly foot: readonly Comment[];
}

class Merge {
  private readonly renames: { readonly [path: string]: string };
  /** Where the parts of the text start that were in the graph; undefined: all of them were. */
  private readonly taken: Set<number> | undefined;

  constructor(renames: { readonly [path: string]: string }, taken: Set<number> | undefined) {
    this.renames = renames;
    this.taken = taken;
  }

  /** Brings the written items to what `fresh` says. */
  items(
    old: readonly Item[],
    fresh: readonly Item[],
    where: Where,
    foot: readonly Comment[],
  ): Merged {
    const after = keyed(fresh, keyOf);
    const wanted = new Map(after);
    const keys = this.keys(old, where, wanted);
    const replaced = replacedSections(old, keys, after, where.place);
    const carried = carryComments(
      old.map((item, index) => ({ notes: item, isKept: keys[index] !== undefined })),
      foot,
      replaced,
    );
    const survivors: [string, Item][] = [];
    for (const [index, key] of keys.entries()) {
      if (key === undefined) continue;
      const noted = { ...(old[index] as Item), ...notesIn(carried.leads[index] as Notes) };
      const now = wanted.get(key);
      survivors.push([key, now ? this.item(noted, now, where) : noted]);
    }
    const headed = after.map(([key, item]): [string, Item] => {
      const notes = carried.headed.get(key);
      return [key, notes ? { ...item, ...notes } : item];
    });
    const isOrdered = where.place === "file" || where.place === "body";
    const items = isOrdered ? inGraphOrder(survivors, headed) : interleaved(survivors, headed);
    return { items: withHeads(items, survivors, where.place), foot: carried.foot };
  }

  /** The key of each old item: in the new graph, or of its own where it never was in the graph. Undefined: it goes. */
  private keys(
    old: readonly Item[],
    where: Where,
    wanted: ReadonlyMap<string, Item>,
  ): (string | undefined)[] {
    const key = (item: Item): string => this.oldKey(item, where);
    const read = old.filter((item) => this.isTaken(item));
    const keys = new Map(keyed(read, key).map(([own, item]) => [item, own]));
    const known = new Set(keys.values());
    return old.map((item, index) => {
      const own = keys.get(item);
      if (own !== undefined) return wanted.has(own) ? own : undefined;
      const unread = `unread ${index}`;
      if (!standsOnce(item)) return unread;
      const only = `0 ${key(item)}`;
      // Behind one that goes it would count, and before a new one it would hide that.
      if (known.has(only)) return wanted.has(only) ? unread : undefined;
      if (!wanted.has(only)) return unread;
      known.add(only);
      return only;
    });
  }

  private isTaken(part: { readonly start: number } | undefined): boolean {
    return part !== undefined && (this.taken?.has(part.start) ?? true);
  }

  private item(old: Item, fresh: Item, where: Where): Item {
    if (old.kind === "attr" && fresh.kind === "attr") {
      return { ...old, name: fresh.name, value: mergeValue(old.value, fresh.value) };
    }
    if (old.kind === "edge" && fresh.kind === "edge") {
      const meta = this.value(old.meta, fresh.meta) as Collection | undefined;
      return { ...old, ends: fresh.ends, meta };
    }
    return old.kind === "block" && fresh.kind === "block" ? this.block(old, fresh, where) : fresh;
  }

  private block(old: BlockItem, fresh: BlockItem, where: Where): BlockItem {
    const place: BlockKind = isBlockKeyword(fresh.keyword) ? fresh.keyword : "layout";
    const items = inside(old, place);
    const wanted = inside(fresh, place);
    const type =
      fresh.type ?? (this.isTaken(old.type) || wanted.some(isSchema) ? undefined : old.type);
    if (old.type && !type) {
      // Without the type, the schema that it kept out of the graph would count.
      for (const item of items.filter(isSchema)) this.taken?.add(item.start);
    }
    const label = old.labels.at(-1)?.text ?? "";
    const path = place === "node" ? joinPath(where.path, label) : where.path;
    const merged = this.items(items, wanted, { place, path }, old.foot);
    const value = this.value(old.value, fresh.value);
    // A body with nothing but a value behind its word would be an attribute.
    const labels = fresh.labels.length === 0 && value ? old.labels : fresh.labels;
    return { ...old, labels, type, value, items: merged.items, foot: merged.foot };
  }

  private value(
    old: Expression | undefined,
    fresh: Expression | undefined,
  ): Expression | undefined {
    if (fresh) return old ? mergeValue(old, fresh) : fresh;
    return this.isTaken(old) ? undefined : old;
  }

  /** The key that an old item has in the new graph, if it is still there. */
  private oldKey(item: Item, where: Where): string {
    if (item.kind === "block" && item.keyword === "node") {
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

function isSchema(item: Item): boolean {
  return item.kind === "attr" && item.name === "schema" && !item.policy;
}

function notesIn({ lead, blank, trailingComment }: Notes): Notes {
  return { lead, blank, trailingComment };
}

function inside(item: BlockItem, place: BlockKind): readonly Item[] {
  const items = item.items ?? [];
  return place === "body" ? toSections(items, "body").flatMap(withoutGap) : toOrder(items, place);
}

/** A section without the empty line before its first item: the line belongs to the section, not to the item. */
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
