/** The header, the declarations around the nodes, and the layout of a text to their parts of the graph. */

import type {
  FlowConnection,
  FlowGraph,
  FlowInput,
  FlowOutput,
  FlowSchedule,
  Json,
  JsonObject,
  JsonSchema,
} from "@millrace/contracts";
import { pointerSegment, setMember } from "../data.ts";
import { replacement } from "../diagnostics/bag.ts";
import { quoteForMessage } from "../diagnostics/quote.ts";
import { BLOCKS, FLOW_POLICIES } from "../language/blocks.ts";
import { firstEvaluated } from "../language/field-value.ts";
import type { AttrItem, BlockItem } from "../language/items.ts";
import { ATTRIBUTE_SHAPES } from "../language/member-shapes.ts";
import { schemaOf, typeName } from "../language/types.ts";
import { mapHeader } from "./header.ts";
import type { MappingContext } from "./mapping-context.ts";
import type { Names } from "./names.ts";
import { mapPolicy } from "./policies.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

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
    const isTitle = attr.name === "title";
    const pointer = isTitle ? "/title" : `/meta${pointerSegment(attr.name)}`;
    const shape = isTitle ? ATTRIBUTE_SHAPES[attr.name] : undefined;
    const data = context.literal(attr.value, quoteForMessage(attr.name), pointer, shape);
    if (data === undefined) continue;
    context.take(attr);
    if (isTitle) header.title = data as string;
    else setMember(meta, attr.name, data);
  }
  if (Object.keys(meta).length > 0) header.meta = meta;
  if (Object.keys(policy).length > 0) header.policy = policy as NonNullable<FlowGraph["policy"]>;
  return header;
}

/** Hands the known plain attributes of a block to `take`; everything else is reported. */
function attributes(
  context: MappingContext,
  item: BlockItem,
  take: (attr: AttrItem) => void,
): void {
  const word = item.word as keyof typeof BLOCKS;
  const known = BLOCKS[word].attributes ?? [];
  refuse(context, item, word);
  for (const attr of context.attributes(item, word)) {
    if (!attr.policy && known.includes(attr.name)) take(attr);
    else context.unknown(attr, word, attr.policy ? [] : known);
  }
}

/** Reports a type or value where the block takes none. */
export function refuse(context: MappingContext, item: BlockItem, word: keyof typeof BLOCKS): void {
  const parts = (what: string) => ({ parts: { block: what, place: `the head of ${word}` } });
  const { type, value } = item;
  if (type && BLOCKS[word].type === "none") {
    context.report.add("FLOW2004", type.start, type.end, parts("a type"));
  }
  if (value && BLOCKS[word].value === "none") {
    context.report.add("FLOW2004", value.start, value.end, parts("a value"));
  }
}

/** `description`, and the schema from the type or from the attribute. */
function describe(
  context: MappingContext,
  item: BlockItem,
  name: string,
  pointer: string,
): { description?: string; schema?: JsonSchema } {
  const found: { description?: string; schema?: JsonSchema } = {};
  if (item.type) {
    context.marks?.add(`${pointer}/schema`, item.type.start, item.type.end);
    const schema = schemaOf(item.type, (start, end, { name: type, mended }) => {
      context.report.add("FLOW3012", start, end, {
        parts: { name: quoteForMessage(type) },
        pointer: `${pointer}/schema`,
        fix: mended !== undefined ? replacement(`write ${mended}`, start, end, mended) : undefined,
      });
    });
    if (schema) {
      found.schema = schema;
      context.take(item.type);
    }
  }
  attributes(context, item, (attr) => {
    const place = `${pointer}/${attr.name}`;
    if (attr.name === "schema" && item.type) {
      context.report.add("FLOW2010", attr.start, attr.nameEnd, {
        parts: { name: quoteForMessage(name) },
        pointer: place,
        related: { start: item.type.start, end: item.type.end, message: "the type is here" },
      });
      return;
    }
    const data = context.literal(attr.value, attr.name, place, ATTRIBUTE_SHAPES[attr.name]);
    if (data === undefined) return;
    setMember(found as Record<string, Json>, attr.name, data);
    context.take(attr);
  });
  return found;
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

/** Adds an input. */
export function mapInput(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowInput[],
): void {
  const pointer = `/inputs/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined) return;
  takeBlock(context, item, pointer, "name");
  const about = describe(context, item, name, pointer);
  const place = `the default of ${quoteForMessage(name)}`;
  const value = item.value && context.literal(item.value, place, `${pointer}/default`);
  if (item.value && value !== undefined) context.take(item.value);
  into.push({ name, ...about, ...(value !== undefined && { default: value }) });
}

/** Adds an output. */
export function mapOutput(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowOutput[],
): void {
  const pointer = `/outputs/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined || !item.value) return;
  takeBlock(context, item, pointer, "name");
  const about = describe(context, item, name, pointer);
  context.take(item.value);
  into.push({ name, ...about, value: context.value(item.value, `${pointer}/value`) });
}

/** Adds a connection. */
export function mapConnection(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowConnection[],
): void {
  const pointer = `/connections/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined || !item.type) return;
  takeBlock(context, item, pointer, "name");
  context.marks?.add(`${pointer}/auth`, item.type.start, item.type.end);
  context.take(item.type);
  const found: Record<string, Json> = { name, auth: typeName(item.type) };
  attributes(context, item, (attr) => {
    const place = `${pointer}/${attr.name}`;
    const data = context.literal(attr.value, attr.name, place, ATTRIBUTE_SHAPES[attr.name]);
    if (data === undefined) return;
    context.take(attr);
    if (attr.name !== "slug" || data !== name) found[attr.name] = data;
  });
  into.push(found as unknown as FlowConnection);
}

/** Adds a schedule. */
export function mapSchedule(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowSchedule[],
): void {
  const pointer = `/schedules/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined) return;
  takeBlock(context, item, pointer, "name");
  const found: Record<string, Json> = { name };
  attributes(context, item, (attr) => {
    const isEvery = attr.name === "every";
    const key = isEvery ? "everyMs" : attr.name;
    const place = `${pointer}/${key}`;
    if (attr.name === "inputs" && attr.value.kind === "object") {
      if (firstEvaluated(attr.value)) context.notLiteral(attr.value, "inputs", place);
      found[key] = context.value(attr.value, place);
      context.take(attr);
      return;
    }
    const data = isEvery
      ? context.duration(attr.value, "every", place)
      : context.literal(attr.value, attr.name, place, ATTRIBUTE_SHAPES[attr.name]);
    if (data === undefined) return;
    found[key] = data;
    context.take(attr);
  });
  into.push(found as unknown as FlowSchedule);
}

/** Adds the places of a layout. */
export function mapLayout(
  context: MappingContext,
  item: BlockItem,
  layout: JsonObject & Record<string, Json>,
): void {
  context.marks?.add("/layout", item.start, item.end);
  const label = item.labels[0];
  if (label) {
    context.report.add("FLOW2009", label.start, label.end, {
      parts: { kind: "layout", needs: "takes no name" },
    });
  }
  refuse(context, item, "layout");
  for (const attr of context.attributes(item, "layout")) {
    if (attr.policy) {
      context.unknown(attr, "layout", []);
      continue;
    }
    const pointer = `/layout${pointerSegment(attr.name)}`;
    const data = attr.data ?? context.literal(attr.value, "layout", pointer);
    if (data === undefined) continue;
    setMember(layout, attr.name, data);
    context.take(attr);
    context.take(item);
  }
}
