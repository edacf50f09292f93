/** Completions outside of values: words of blocks, fields, policies, names in heads, ends of edges. */

import type { NodeModel } from "../../check/model/bodies.ts";
import { CONNECTION_KINDS } from "../../check/rules/declarations.ts";
import {
  BLOCKS,
  type BlockKind,
  FLOW_POLICIES,
  isBlockKeyword,
  type Member,
  NODE_POLICIES,
  TITLE,
} from "../../language/blocks.ts";
import { TYPE_NAMES } from "../../language/types.ts";
import { nameText } from "../../syntax/print-expression.ts";
import { describeType } from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import { type CursorContext, LABEL, labelText } from "./context.ts";
import { attributeOffers, type Offer, propertyOffers, RANK } from "./offer.ts";

/**
 * At the start of an item: words of blocks, fields or attributes not yet set, nodes that an edge may leave. Where the item goes on
 * behind the cursor, only what it may go on with.
 */
export function* itemOffers(context: CursorContext): Generator<Offer> {
  const { block, reading, to } = context;
  const { kind, body, node } = block;
  if (kind === undefined) return;
  const rest = REST.exec(reading.text.slice(to))?.[0].trim() ?? "";
  const takes = (pattern: RegExp): boolean => rest === "" || pattern.test(rest);
  for (const keyword of Object.keys(BLOCKS).filter(isBlockKeyword)) {
    const isOffered = rest === "" || fitsHead(keyword, context);
    if (BLOCKS[keyword].in.includes(kind) && isOffered && isFree(keyword, context)) {
      // The header is offered as long as there is none.
      const rank = keyword === "flow" ? RANK.needed : RANK.plain;
      const snippet = rest === "" ? SNIPPETS[keyword] : undefined;
      yield { label: keyword, kind: "keyword", rank, snippet };
    }
  }
  const isEdge = takes(/^(?:->|\.)/);
  if (isEdge && (kind === "file" || kind === "body")) {
    for (const each of body.nodes) yield nodeOffer(each, RANK.outside);
  }
  if (!takes(/^=/)) return;
  const isThere = (name: string): boolean => isSet(context, name);
  if (kind === "node") yield* propertyOffers(node?.entry?.fields, "field", isThere);
  else if (kind === "layout") {
    for (const each of reading.model.nodes) {
      if (isThere(each.path)) continue;
      yield { label: each.path, insert: nameText(each.path), kind: "node", rank: RANK.plain };
    }
  } else if (kind !== "file") yield* attributeOffers(attributesOf(kind), isThere);
}

/** The rest of an item on its line. */
const REST = /^[^\n#;}]*/;

/** Whether a block keyword may take the place of the one at the cursor: its head takes the same. */
function fitsHead(keyword: keyof typeof BLOCKS, { reading, from, to }: CursorContext): boolean {
  const now = reading.text.slice(from, to);
  if (!isBlockKeyword(now)) return false;
  const fresh = BLOCKS[keyword];
  const old = BLOCKS[now];
  return (["labels", "type", "value"] as const).every((part) => fresh[part] === old[part]);
}

function attributesOf(kind: Exclude<BlockKind, "file">): readonly Member[] {
  return kind === "flow" ? [TITLE] : (BLOCKS[kind].attributes ?? []);
}

/** Whether a block may stand once more. */
function isFree(keyword: string, { block, reading }: CursorContext): boolean {
  if (keyword === "body") {
    return block.node?.entry?.body === true && block.node.node.body === undefined;
  }
  if (keyword !== "flow" && keyword !== "layout") return true;
  return !reading.items.some((item) => item.kind === "block" && item.keyword === keyword);
}

/** Whether an attribute stands in the block around the cursor, outside of the item that the cursor is in. */
function isSet({ block, reading, from }: CursorContext, name: string, policy = false): boolean {
  let { items } = reading;
  for (;;) {
    const around = items.find(
      (item) => item.kind === "block" && item.start < block.start && block.start <= item.end,
    );
    if (around?.kind !== "block" || around.items === undefined) break;
    items = around.items;
  }
  return items.some(
    (item) =>
      item.kind === "attr" &&
      item.policy === policy &&
      item.name === name &&
      !(item.start <= from && from <= item.nameEnd),
  );
}

/** Policies that are not set yet. */
export function* policyOffers(context: CursorContext): Generator<Offer> {
  for (const { text, schema } of policiesOf(context)) {
    if (isSet(context, text, true)) continue;
    const detail = describeType(typeFromSchema(schema));
    yield { label: text, kind: "policy", rank: RANK.plain, detail };
  }
}

/** The policies that the block around the cursor takes. */
export function policiesOf({ block }: CursorContext): readonly Member[] {
  return block.kind === "node" ? NODE_POLICIES : block.kind === "flow" ? FLOW_POLICIES : [];
}

const TYPE_PLACE = new RegExp(String.raw`^(\w+)\s+${LABEL}\s*:\s*([\w.]*\.)?$`);

/** In the head of a block: types. */
export function* headOffers(context: CursorContext): Generator<Offer> {
  const { before, block, reading } = context;
  if (block.inner.some(({ kind }) => kind === "type")) {
    if (/:\s*$/.test(reading.text.slice(0, context.from))) yield* typeOffers();
    return;
  }
  const [, keyword, prefix = ""] = TYPE_PLACE.exec(before) ?? [];
  if (keyword === "node") yield* nodeTypeOffers(context, prefix);
  else if (keyword === "connection") {
    for (const label of CONNECTION_KINDS) yield { label, kind: "value", rank: RANK.plain };
  } else if (keyword === "input" || keyword === "output") yield* typeOffers();
}

function* typeOffers(): Generator<Offer> {
  for (const label of TYPE_NAMES) yield { label, kind: "type", rank: RANK.plain };
}

/** Node types, in place of the whole name with its dots; behind `http.` those that begin so, if there are any. */
function* nodeTypeOffers(context: CursorContext, prefix: string): Generator<Offer> {
  const { text, validation } = context.reading;
  const { catalog } = validation;
  const rest = /^(?:\.[\w-]*)*/.exec(text.slice(context.to))?.[0] ?? "";
  const replaces = { start: context.from - prefix.length, end: context.to + rest.length };
  const begun = catalog.types.filter((type) => type.startsWith(prefix));
  for (const type of begun.length === 0 ? catalog.types : begun) {
    const entry = catalog.exactly(type);
    if (entry === undefined) continue;
    yield {
      label: type,
      replaces,
      kind: "type",
      rank: entry.deprecated === undefined ? RANK.plain : RANK.function,
      detail: `${entry.title}, ${entry.effect}`,
      documentation: () => entry.summary,
      deprecated: entry.deprecated !== undefined,
    };
  }
}

const PORT_PLACE = new RegExp(String.raw`(?:^|->\s*)(${LABEL})\s*\.\s*$`);
const FIRST_END = new RegExp(String.raw`(${LABEL})(?:\s*\.\s*${LABEL})?\s*->\s*$`);

const EDGE_END = new RegExp(String.raw`^${LABEL}\s*\.\s*$`);

/** Whether an item begins with a name and a dot: the port of an edge follows. */
export function isEdgeEnd(before: string): boolean {
  return EDGE_END.test(before);
}

/** At the ends of an edge: ports behind a dot, else the nodes of the body but the one that the edge comes from. */
export function* edgeOffers(context: CursorContext): Generator<Offer> {
  const { before, block, reading } = context;
  if (block.kind !== "file" && block.kind !== "body") return;
  const { body } = block;
  const port = PORT_PLACE.exec(before)?.[1];
  if (port !== undefined) {
    const node = body.byId.get(labelText(port));
    if (node === undefined) return;
    for (const name of reading.validation.ports.of(node).names) {
      const description = node.entry?.ports.find((each) => each.name === name)?.description;
      const insert = nameText(name);
      yield { label: name, insert, kind: "port", rank: RANK.plain, detail: description };
    }
    return;
  }
  const from = FIRST_END.exec(before)?.[1];
  if (from === undefined) return;
  for (const node of body.nodes) {
    if (node.id !== labelText(from)) yield nodeOffer(node, RANK.sameBody);
  }
}

/** A node by its id. */
function nodeOffer({ id, entry, node }: NodeModel, rank: number): Offer {
  const documentation = entry && (() => entry.summary);
  return { label: id, insert: nameText(id), kind: "node", rank, detail: node.type, documentation };
}

/** First words of each block. */
const SNIPPETS: Readonly<Record<keyof typeof BLOCKS, string>> = {
  flow: "flow 1 ${1:my-flow}\n\n$0",
  input: "input ${1:name}: ${2:string}",
  connection: "connection ${1:name}: ${2:oauth}",
  schedule: 'schedule ${1:name} {\n  cron = "${2:0 7 * * *}"\n  timezone = "${3:UTC}"\n}',
  node: "node ${1:name}: ${2:type} {\n  $0\n}",
  output: "output ${1:name} = ${2:null}",
  layout: "layout {\n  $0\n}",
  body: "body {\n  $0\n}",
};
