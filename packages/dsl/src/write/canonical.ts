/**
 * Items in canonical shape and order: what `printFlow` prints is a function of the graph, the comments and the author's
 * empty lines, so every spelling that the graph does not keep is put right here. No comment is lost on the way.
 */

import { isObject } from "@millrace/contracts/kit";
import { append } from "../data.ts";
import {
  BLOCKS,
  type BlockKind,
  FLOW_POLICIES,
  memberByText,
  NODE_POLICIES,
} from "../language/blocks.ts";
import { toLiteral } from "../language/field-value.ts";
import type { AttrItem, BlockItem, EdgeEnd, EdgeItem, Item } from "../language/items.ts";
import { typeOf } from "../language/types.ts";
import { bareDuration } from "../read/mapping-context.ts";
import type { Expression, ObjectExpression } from "../syntax/ast.ts";
import { type Comment, NO_COMMENTS, withoutNotes } from "../syntax/notes.ts";

/** Sections of a file, in order; items of no section come last. */
const FILE_ORDER: readonly string[] =
  "flow input connection schedule node edge output layout".split(" ");
/** The author's order of connections and inputs is kept. */
const CONNECTED_ORDER: readonly string[] =
  "flow connection input schedule node edge output layout".split(" ");
/** Sections of a body. */
const BODY_ORDER: readonly string[] = ["node", "edge", "output"];

/** The section that an item belongs to. */
export function sectionOf(item: Item, place: "file" | "body"): string {
  if (item.kind === "edge") return "edge";
  if (item.kind === "block") return place === "body" && item.keyword !== "node" ? "" : item.keyword;
  return place === "body" && !item.policy ? item.name : "";
}

/** The items of any other block: attributes in their order, then blocks. */
export function toOrder(items: readonly Item[], place: BlockKind): readonly Item[] {
  if (isInOrder(items, place)) return items;
  const ranked = items.flatMap((item) =>
    canonicalItem(item, place).map((one) => ({ one, rank: rankOf(one, place) })),
  );
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked.map(({ one }) => one);
}

/** Whether items are canonical as they stand: most are. */
function isInOrder(items: readonly Item[], place: BlockKind): boolean {
  let last = 0;
  for (const item of items) {
    const rank = rankOf(item, place);
    if (rank < last) return false;
    last = rank;
    if (item.kind === "edge") return false;
    const canonical = item.kind === "attr" ? canonicalAttr(item, place) : canonicalBlock(item);
    if (canonical !== item) return false;
  }
  return true;
}

/** Where an item stands among those of its block, the file and bodies included: smaller comes first. */
export function placeOf(item: Item, place: BlockKind): number {
  if (place !== "file" && place !== "body") return rankOf(item, place);
  const order = place === "file" ? FILE_ORDER : BODY_ORDER;
  const at = order.indexOf(sectionOf(item, place));
  return at === -1 ? order.length : at;
}

function rankOf(item: Item, place: BlockKind): number {
  if (item.kind !== "attr") return item.kind === "block" && item.keyword === "body" ? 300 : 400;
  if (place === "node" || place === "flow") {
    if (!item.policy) return place === "flow" && item.name === "title" ? 0 : 1;
    const table = place === "flow" ? FLOW_POLICIES : NODE_POLICIES;
    const at = table.findIndex(({ text }) => text === item.name);
    return at === -1 ? 200 : 100 + at;
  }
  const members = BLOCKS[place as keyof typeof BLOCKS]?.attributes;
  const at = members?.findIndex(({ text }) => text === item.name) ?? 0;
  return item.policy || at === -1 ? 200 : at;
}

/** The canonical items that one item is: a chain is several. */
function canonicalItem(item: Item, place: BlockKind): Item[] {
  if (item.kind === "edge") return chainToEdges(item);
  if (item.kind === "block") return [canonicalBlock(item)];
  return [canonicalAttr(item, place)];
}

/** Bare numbers where durations belong become durations. */
function canonicalAttr(item: AttrItem, place: BlockKind): AttrItem {
  const isPolicy = item.policy && (place === "node" || place === "flow");
  const table = isPolicy ? NODE_POLICIES : place === "schedule" ? BLOCKS.schedule.attributes : [];
  const member = memberByText(table ?? [], item.name);
  if (member?.kind === "duration") {
    const value = toDuration(item.value);
    return value === item.value ? item : { ...item, value };
  }
  if (!member?.members || item.value.kind !== "object") return item;
  const { members } = member;
  const isDuration = (key: string): boolean => memberByText(members, key)?.kind === "duration";
  const { entries } = item.value;
  if (!entries.some(({ key, value }) => isDuration(key) && bareDuration(value) !== undefined)) {
    return item;
  }
  const value: ObjectExpression = {
    ...item.value,
    entries: entries.map((entry) =>
      isDuration(entry.key) ? { key: entry.key, value: toDuration(entry.value) } : entry,
    ),
  };
  return { ...item, value };
}

function toDuration(e: Expression): Expression {
  const ms = bareDuration(e);
  return ms === undefined ? e : { kind: "duration", ms, start: e.start, end: e.end };
}

/** A chain is its pairs: the first takes the comments before it, the last the one behind it, each the object. */
function chainToEdges(item: EdgeItem): EdgeItem[] {
  const isChain = item.ends.length > 2;
  let { meta } = item;
  const isEmpty = meta?.kind === "object" && meta.entries.length === 0;
  if (!isChain && !isEmpty && item.ends[0]?.port !== "out") return [item];
  const comments: Comment[] = [];
  if (meta && (isChain || isEmpty)) meta = withoutNotes(meta, comments) as typeof meta;
  const lead = comments.length === 0 ? item.lead : [...item.lead, ...comments];
  const edges: EdgeItem[] = [];
  for (let index = 1; index < item.ends.length; index += 1) {
    const from = item.ends[index - 1] as EdgeEnd;
    const to = item.ends[index] as EdgeEnd;
    const isFirst = index === 1;
    edges.push({
      ...item,
      ends: [
        { ...from, port: from.port === "out" ? undefined : from.port },
        { ...to, port: index === item.ends.length - 1 ? to.port : undefined },
      ],
      meta: isEmpty ? undefined : meta,
      lead: isFirst ? lead : NO_COMMENTS,
      blank: isFirst && item.blank,
      trailingComment: index === item.ends.length - 1 ? item.trailingComment : undefined,
    });
  }
  return edges;
}

function canonicalBlock(item: BlockItem): BlockItem {
  if (!item.items) return item;
  if (item.keyword === "connection") {
    const slug = onlyAttr(item.items, "slug");
    const isName = slug?.value.kind === "literal" && slug.value.value === item.labels[0]?.text;
    return isName ? without(item, slug) : item;
  }
  if ((item.keyword !== "input" && item.keyword !== "output") || item.type) return item;
  const attr = onlyAttr(item.items, "schema");
  const schema = attr && toLiteral(attr.value, "", undefined);
  if (!attr || !isObject(schema)) return item;
  const type = typeOf(schema as Parameters<typeof typeOf>[0]);
  return type
    ? { ...without(item, attr), type: { ...type, start: attr.start, end: attr.end } }
    : item;
}

/** The field of a block; undefined also when it is set twice: only the first counts, and without it the other would. */
function onlyAttr(items: readonly Item[], name: string): AttrItem | undefined {
  const found = items.filter(
    (item): item is AttrItem => item.kind === "attr" && item.name === name && !item.policy,
  );
  return found.length === 1 ? found[0] : undefined;
}

/** A block without one of its attributes, whose comments go before the block. */
function without(item: BlockItem, attr: AttrItem): BlockItem {
  const lead = [...item.lead, ...commentsOf(attr)];
  return { ...item, lead, items: (item.items ?? []).filter((other) => other !== attr) };
}

/** Every comment of an item, in order. */
function commentsOf(item: Item): Comment[] {
  const comments: Comment[] = [...item.lead];
  if (item.kind === "attr") withoutNotes(item.value, comments);
  else if (item.kind === "edge") {
    if (item.meta) withoutNotes(item.meta, comments);
  } else {
    if (item.value) withoutNotes(item.value, comments);
    for (const inner of item.items ?? []) append(comments, commentsOf(inner));
    append(comments, item.foot);
  }
  if (item.trailingComment !== undefined)
    comments.push({ text: item.trailingComment, blank: false });
  return comments;
}

/** Whether an item is a layout of nothing, which is not printed. */
export function isEmptyLayout(item: Item): boolean {
  return item.kind === "block" && item.keyword === "layout" && (item.items ?? []).length === 0;
}

/** Something for each item, by section. */
export class Sections<T> {
  /** Comments of what is not printed; they stand before those at the foot. */
  readonly behind: Comment[] = [];
  /** Whether connections come before inputs: undefined until one of them came. */
  connected: boolean | undefined;
  private readonly byName = new Map<string, T[]>();
  private readonly place: "file" | "body";
  private readonly make: (item: Item) => T;

  constructor(place: "file" | "body", make: (item: Item) => T) {
    this.place = place;
    this.make = make;
  }

  /** Takes the next item as written. */
  add(item: Item): void {
    for (const canonical of canonicalItem(item, this.place)) {
      if (this.place === "file" && isEmptyLayout(canonical)) {
        append(this.behind, commentsOf(canonical));
        continue;
      }
      this.addTo(sectionOf(canonical, this.place), this.make(canonical));
    }
  }

  /** Adds to a section what stands for the next item. */
  addTo(name: string, made: T): void {
    if (name === "input" || name === "connection") this.connected ??= name === "connection";
    const known = this.byName.get(name);
    if (known) known.push(made);
    else this.byName.set(name, [made]);
  }

  /** The sections that hold anything, in canonical order. */
  inOrder(): T[][] {
    const order =
      this.place === "body" ? BODY_ORDER : this.connected ? CONNECTED_ORDER : FILE_ORDER;
    const strange = [...this.byName.keys()].filter((name) => !order.includes(name));
    const others = strange.flatMap((name) => this.byName.get(name) ?? []);
    return [...order.map((name) => this.byName.get(name) ?? []), others].filter(
      (section) => section.length > 0,
    );
  }
}

/** Canonical items by section. */
export function toSections(
  items: readonly Item[],
  place: "file" | "body",
  connected?: boolean,
): Item[][] {
  const sections = new Sections<Item>(place, (item) => item);
  sections.connected = connected;
  for (const item of items) sections.add(item);
  return sections.inOrder();
}
