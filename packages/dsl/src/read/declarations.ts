/** The header, the declarations around the nodes, and the layout of a text to their parts of the graph. */

import type { FlowGraph, Json, JsonObject } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";
import { setMember } from "../data.ts";
import { replacement } from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import {
  BLOCKS,
  FLOW_POLICIES,
  type Member,
  memberByText,
  TITLE,
  textNames,
} from "../language/blocks.ts";
import type { AttrItem, BlockItem, Label, TypeNode } from "../language/items.ts";
import { schemaOf, typeName, typeText } from "../language/types.ts";
import { isIdent } from "../syntax/chars.ts";
import { nameText } from "../syntax/print-expression.ts";
import type { Level, MappingContext } from "./mapping-context.ts";
import { mapPolicy } from "./policies.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The header, with what else its block says. */
export function mapFlow(context: MappingContext, item: BlockItem): Partial<FlowGraph> {
  context.take(item);
  const header: Mutable<Partial<FlowGraph>> = { id: mapHeader(context, item) };
  const meta: Record<string, Json> = {};
  const policy: Record<string, Json> = {};
  for (const attr of context.attributes(item, "flow")) {
    if (attr.policy) {
      mapPolicy(context, attr, policy, { pointer: "/policy", table: FLOW_POLICIES });
      continue;
    }
    if (attr.name === "timeout" && attr.value.kind === "duration") {
      const { nameStart: at, value } = attr;
      context.report.add("FLOW3013", value.start, value.end, {
        parts: { place: "timeout" },
        hint: "timeout is a policy: @timeout",
        fix: replacement("write @timeout", at, at, "@"),
      });
      continue;
    }
    const isTitle = attr.name === TITLE.text;
    const pointer = isTitle ? "/title" : `/meta${pointerSegment(attr.name)}`;
    const shape = isTitle ? TITLE.shape : undefined;
    const data = context.literal(attr.value, shown(attr.name), pointer, shape);
    if (data === undefined) continue;
    context.take(attr);
    if (isTitle) header.title = data as string;
    else setMember(meta, attr.name, data);
  }
  if (Object.keys(meta).length > 0) header.meta = meta;
  if (Object.keys(policy).length > 0) header.policy = policy as NonNullable<FlowGraph["policy"]>;
  return header;
}

/** The language version of this package. */
const LANGUAGE_VERSION = 1;

/** The id of the flow; "" when there is none. Versions are checked here. */
function mapHeader(context: MappingContext, item: BlockItem): string {
  const [first, second] = item.labels;
  const id = first && nameOf(first, second);
  if (first) context.marks?.add("/version", first.start, first.end);
  if (id) context.marks?.add("/id", id.start, id.end);
  checkVersion(context, item);
  if (id) return id.text;
  context.report.add("FLOW2009", item.start, item.keywordEnd, {
    parts: { kind: "flow", needs: first ? "needs a name" : "needs a version and a name" },
  });
  return "";
}

/** The label that is the flow's name: the second, or the one that is no number. */
function nameOf(first: Label, second: Label | undefined): Label | undefined {
  if (second && (first.digits || !second.digits)) return second;
  return first.digits ? undefined : first;
}

function checkVersion(context: MappingContext, item: BlockItem): void {
  const [first, second] = item.labels;
  if (!first || (first.digits && first.text === String(LANGUAGE_VERSION))) return;
  const { source, report } = context;
  const found = shown(source.slice(first.start, first.end));
  if (first.digits && /^[1-9][0-9]*$/.test(first.text)) {
    context.isNewer = true;
    report.add("FLOW0002", first.start, first.end, {
      parts: { found, supported: LANGUAGE_VERSION },
    });
    return;
  }
  const id = nameOf(first, second) ?? first;
  const text = `${LANGUAGE_VERSION} ${nameText(id.text)}`;
  const isWhole = isIdent(id.text) || source[id.start] === source[id.end - 1];
  report.add("FLOW0003", first.start, first.end, {
    parts: { found },
    fix: isWhole
      ? replacement(`write flow ${shown(text)}`, first.start, (second ?? first).end, text)
      : undefined,
  });
}

/** Blocks that become an element of a list of the graph, by their keyword. */
export type Declaration = "input" | "connection" | "schedule" | "output";

/** Adds a declaration to its list; one without its name, or without a type or value that it needs, is left out. */
export function mapDeclaration(
  context: MappingContext,
  item: BlockItem,
  keyword: Declaration,
  level: Level,
  into: JsonObject[],
): void {
  const pointer = `/${keyword}s/${into.length}`;
  const name = level.nameOf(item, pointer);
  const block = BLOCKS[keyword];
  if (name === undefined) return;
  if ((block.type === "needed" && !item.type) || (block.value === "needed" && !item.value)) return;
  takeBlock(context, item, pointer, "name");
  const found: Record<string, Json> = { name };
  if (item.type && keyword !== "schedule") mapType(context, item.type, keyword, found, pointer);
  mapAttributes(context, item, keyword, found, pointer);
  if (item.value && (keyword === "input" || keyword === "output")) {
    const key = keyword === "input" ? "default" : "value";
    const place = `${pointer}/${key}`;
    const data =
      keyword === "input"
        ? context.literal(item.value, `the default of ${shown(name)}`, place)
        : context.value(item.value, place);
    if (data !== undefined) {
      context.take(item.value);
      found[key] = data;
    }
  }
  into.push(found);
}

/** The type in a head: how a connection is authorised, the schema of an input or output. */
function mapType(
  context: MappingContext,
  type: TypeNode,
  keyword: Declaration,
  into: Record<string, Json>,
  block: string,
): void {
  const key = keyword === "connection" ? "auth" : "schema";
  const pointer = `${block}/${key}`;
  context.marks?.add(pointer, type.start, type.end);
  const data =
    keyword === "connection"
      ? typeName(type)
      : schemaOf(type, (bad, mended) => {
          const parts = { name: shown(typeText(bad)) };
          context.report.add("FLOW3012", bad.start, bad.end, { parts, pointer, fix: mended });
        });
  if (data === undefined) return;
  into[key] = data;
  context.take(type);
}

function mapAttributes(
  context: MappingContext,
  item: BlockItem,
  keyword: Declaration,
  into: Record<string, Json>,
  block: string,
): void {
  const members = BLOCKS[keyword].attributes ?? [];
  refuseHead(context, item, keyword);
  for (const attr of context.attributes(item, keyword)) {
    const member = attr.policy ? undefined : memberByText(members, attr.name);
    if (!member) {
      context.unknown(attr, keyword, attr.policy ? [] : textNames(members));
      continue;
    }
    const pointer = `${block}/${member.key}`;
    if (member.key === "schema" && item.type) {
      context.report.add("FLOW2010", attr.start, attr.nameEnd, {
        parts: { name: shown(into["name"] as string) },
        pointer,
        related: { start: item.type.start, end: item.type.end, message: "the type is here" },
      });
      continue;
    }
    const data = mapAttribute(context, attr, member, pointer);
    if (data === undefined) continue;
    context.take(attr);
    // A connection that names itself says nothing.
    if (member.key !== "slug" || data !== into["name"]) into[member.key] = data;
  }
}

function mapAttribute(
  context: MappingContext,
  { name, value }: AttrItem,
  member: Member,
  pointer: string,
): Json | undefined {
  if (member.kind !== "values" || value.kind !== "object") {
    return context.member(value, member, name, pointer);
  }
  context.mustBeLiteral(value, name, pointer);
  return context.value(value, pointer);
}

/** Reports a name, type or value where the block takes none. */
export function refuseHead(
  { report }: MappingContext,
  { labels: [label], type, value }: BlockItem,
  keyword: keyof typeof BLOCKS,
): void {
  const block = BLOCKS[keyword];
  const place = `the head of ${keyword}`;
  if (label && block.labels === 0) {
    const parts = { kind: keyword, needs: "takes no name" };
    report.add("FLOW2009", label.start, label.end, { parts });
  }
  if (type && block.type === "none") {
    report.add("FLOW2004", type.start, type.end, { parts: { block: "a type", place } });
  }
  if (value && block.value === "none") {
    report.add("FLOW2004", value.start, value.end, { parts: { block: "a value", place } });
  }
}

/** Notes that a block is in the graph, and where it and its name are. */
export function takeBlock(
  context: MappingContext,
  item: BlockItem,
  pointer: string,
  name: string,
): void {
  context.take(item);
  context.marks?.add(pointer, item.start, item.end);
  const label = item.labels[0];
  if (label) context.marks?.add(`${pointer}/${name}`, label.start, label.end);
}

/** Adds the places of a layout. */
export function mapLayout(
  context: MappingContext,
  item: BlockItem,
  layout: Record<string, Json>,
): void {
  context.marks?.add("/layout", item.start, item.end);
  refuseHead(context, item, "layout");
  for (const attr of context.attributes(item, "layout")) {
    if (attr.policy) {
      context.unknown(attr, "layout", []);
      continue;
    }
    const pointer = `/layout${pointerSegment(attr.name)}`;
    const data = context.literal(attr.value, "layout", pointer);
    if (data === undefined) continue;
    setMember(layout, attr.name, data);
    context.take(attr);
    context.take(item);
  }
}
