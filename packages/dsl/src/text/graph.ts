/**
 * Text to graph, block by block. What cannot be mapped is reported and left out; everything else is in the graph.
 */
import type {
  FlowBody,
  FlowConnection,
  FlowEdge,
  FlowGraph,
  FlowInput,
  FlowNode,
  FlowOutput,
  FlowSchedule,
  Json,
  JsonObject,
  JsonSchema,
} from "@millrace/contracts";
import { setMember } from "../expression/values.ts";
import { nearestName } from "../nearest.ts";
import { isEmptyLayout } from "./canonical.ts";
import { quoteForMessage } from "./chars.ts";
import { MappingContext, twinsOf } from "./context.ts";
import { mapEdge } from "./edges.ts";
import { mapHeader } from "./header.ts";
import { ATTRIBUTE_SHAPES } from "./member-shapes.ts";
import { Names } from "./names.ts";
import { mapPolicy } from "./policies.ts";
import type { Report } from "./report.ts";
import type { AttrItem, BlockItem, Item } from "./tree.ts";
import { schemaOf, typeName, typeText } from "./types.ts";
import { firstEvaluated, type Marks, pointerSegment } from "./values.ts";
import { BLOCKS, FLOW_POLICIES, isBlockWord, NODE_POLICIES } from "./words.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Makes the graph of a file, item by item. Findings go to the report, places to the marks. */
export class GraphBuilder {
  private readonly context: MappingContext;
  private readonly names: Names;
  private readonly lists = {
    inputs: [] as FlowInput[],
    nodes: [] as FlowNode[],
    edges: [] as FlowEdge[],
    outputs: [] as FlowOutput[],
    connections: [] as FlowConnection[],
    schedules: [] as FlowSchedule[],
  };
  private readonly layout: Record<string, Json> = {};
  private header: Partial<FlowGraph> | undefined;
  private hasLayout = false;
  private first: Item | undefined;
  private flow: BlockItem | undefined;

  constructor(source: string, report: Report, marks: Marks | undefined, noValues = false) {
    this.context = new MappingContext(source, report, marks, noValues);
    this.names = new Names(this.context);
    marks?.add("", 0, source.length);
  }

  /** Adds the next item of the file. */
  add(item: Item): void {
    this.first ??= item;
    if (item === this.first && isMisspeltFlow(item)) return; // the missing header is reported
    if (!this.context.admits(item, "file")) return;
    if (item.kind === "edge") {
      mapEdge(this.context, item, this.lists.edges, this.names.edges, "/edges");
    } else if (item.kind === "block") this.block(item);
  }

  private block(item: BlockItem): void {
    const { context, names, lists } = this;
    switch (item.word as keyof typeof BLOCKS) {
      case "flow":
        if (this.header) names.twice(item, "flow");
        else this.header = mapFlow(context, item);
        this.flow ??= item;
        break;
      case "input":
        mapInput(context, item, names, lists.inputs);
        break;
      case "connection":
        mapConnection(context, item, names, lists.connections);
        break;
      case "schedule":
        mapSchedule(context, item, names, lists.schedules);
        break;
      case "node":
        mapNode(context, item, names, lists.nodes, "/nodes");
        break;
      case "output":
        mapOutput(context, item, names, lists.outputs);
        break;
      case "layout":
        if (this.hasLayout) names.twice(item, "layout");
        else mapLayout(context, item, this.layout);
        this.hasLayout ||= !isEmptyLayout(item);
        break;
      case "body":
        break; // stands only in a node
    }
  }

  /** The graph of all items. `headless`: the first one could not be read, and was reported; it may have been the header. */
  finish(headless: boolean): FlowGraph {
    const { first, flow } = this;
    if (!headless && (first === undefined || first !== flow)) this.missingHeader();
    return { version: 1, id: "", ...this.header, ...this.lists, layout: this.layout };
  }

  private missingHeader(): void {
    const { first, flow } = this;
    const at = first?.start ?? 0;
    const end = first?.kind === "block" ? first.wordEnd : (first?.end ?? 0);
    const isMisspelt = first !== undefined && isMisspeltFlow(first);
    const fix = isMisspelt
      ? { title: "write flow", edits: [{ start: at, end, text: "flow" }] }
      : { title: "add it", edits: [{ start: at, end: at, text: "flow 1 my-flow\n\n" }] };
    this.context.report.add("FLOW2001", at, end, {
      ...(isMisspelt && { hint: "did you mean flow?" }),
      ...(flow
        ? { related: { start: flow.start, end: flow.end, message: "move it to the top" } }
        : { fix }),
    });
  }
}

/** Whether a block at the head of the file was meant as the header. */
function isMisspeltFlow(item: Item): boolean {
  return (
    item.kind === "block" &&
    !isBlockWord(item.word) &&
    nearestName(item.word, Object.keys(BLOCKS)) === "flow"
  );
}

function mapFlow(context: MappingContext, item: BlockItem): Partial<FlowGraph> {
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

/** A type or value where the block takes none. */
function refuse(context: MappingContext, item: BlockItem, word: keyof typeof BLOCKS): void {
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
        ...(mended !== undefined && {
          fix: { title: `write ${mended}`, edits: [{ start, end, text: mended }] },
        }),
      });
    });
    if (schema) found.schema = schema;
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
    if (data !== undefined) setMember(found as Record<string, Json>, attr.name, data);
  });
  return found;
}

function markBlock(context: MappingContext, item: BlockItem, pointer: string, name: string): void {
  context.marks?.add(pointer, item.start, item.end);
  const label = item.labels[0];
  if (label) context.marks?.add(`${pointer}/${name}`, label.start, label.end);
}

function mapInput(context: MappingContext, item: BlockItem, names: Names, into: FlowInput[]): void {
  const pointer = `/inputs/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined) return;
  markBlock(context, item, pointer, "name");
  const about = describe(context, item, name, pointer);
  const place = `the default of ${quoteForMessage(name)}`;
  const value = item.value && context.literal(item.value, place, `${pointer}/default`);
  into.push({ name, ...about, ...(value !== undefined && { default: value }) });
}

function mapOutput(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowOutput[],
): void {
  const pointer = `/outputs/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined || !item.value) return;
  markBlock(context, item, pointer, "name");
  const about = describe(context, item, name, pointer);
  into.push({ name, ...about, value: context.value(item.value, `${pointer}/value`) });
}

function mapConnection(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowConnection[],
): void {
  const pointer = `/connections/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined || !item.type) return;
  markBlock(context, item, pointer, "name");
  context.marks?.add(`${pointer}/auth`, item.type.start, item.type.end);
  const found: Record<string, Json> = { name, auth: typeName(item.type) };
  attributes(context, item, (attr) => {
    const place = `${pointer}/${attr.name}`;
    const data = context.literal(attr.value, attr.name, place, ATTRIBUTE_SHAPES[attr.name]);
    if (data !== undefined && !(attr.name === "slug" && data === name)) found[attr.name] = data;
  });
  into.push(found as unknown as FlowConnection);
}

function mapSchedule(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowSchedule[],
): void {
  const pointer = `/schedules/${into.length}`;
  const name = names.of(item, pointer);
  if (name === undefined) return;
  markBlock(context, item, pointer, "name");
  const found: Record<string, Json> = { name };
  attributes(context, item, (attr) => {
    const isEvery = attr.name === "every";
    const key = isEvery ? "everyMs" : attr.name;
    const place = `${pointer}/${key}`;
    if (attr.name === "inputs" && attr.value.kind === "object") {
      if (firstEvaluated(attr.value)) context.notLiteral(attr.value, "inputs", place);
      found[key] = context.value(attr.value, place);
      return;
    }
    const data = isEvery
      ? context.duration(attr.value, "every", place)
      : context.literal(attr.value, attr.name, place, ATTRIBUTE_SHAPES[attr.name]);
    if (data !== undefined) found[key] = data;
  });
  into.push(found as unknown as FlowSchedule);
}

function mapNode(
  context: MappingContext,
  item: BlockItem,
  names: Names,
  into: FlowNode[],
  list: string,
): void {
  const pointer = `${list}/${into.length}`;
  const id = names.of(item, pointer);
  const { type } = item;
  if (id === undefined || !type) return;
  if (type.kind !== "name") {
    context.report.add("FLOW1006", type.start, type.end, {
      parts: { what: "a node type", found: quoteForMessage(typeText(type)) },
    });
    return;
  }
  markBlock(context, item, pointer, "id");
  context.marks?.add(`${pointer}/type`, type.start, type.nameEnd);
  if (type.version !== undefined) {
    context.marks?.add(`${pointer}/typeVersion`, type.nameEnd, type.end);
  }
  refuse(context, item, "node");
  const fields: Record<string, Json> = {};
  let policy: Record<string, Json> | undefined;
  let body: FlowBody | undefined;
  const items = item.items ?? [];
  const twins = twinsOf(items);
  for (const inner of items) {
    if (context.report.full) break;
    if (!context.admits(inner, "node", twins)) continue;
    if (inner.kind === "block") {
      if (body) names.twice(inner, "body");
      else body = mapBody(context, inner, names, `${pointer}/body`);
    } else if (inner.kind === "attr" && inner.policy) {
      policy ??= {};
      mapPolicy(context, inner, policy, { pointer: `${pointer}/policy`, table: NODE_POLICIES });
    } else if (inner.kind === "attr") {
      const place = context.marks ? `${pointer}/fields${pointerSegment(inner.name)}` : "";
      setMember(fields, inner.name, inner.data ?? context.value(inner.value, place));
    }
  }
  const node: Mutable<FlowNode> = { id, type: type.name, fields };
  if (type.version !== undefined) node.typeVersion = type.version;
  if (policy && Object.keys(policy).length > 0) node.policy = policy;
  if (body) node.body = body;
  into.push(node);
}

function mapBody(
  context: MappingContext,
  item: BlockItem,
  outer: Names,
  pointer: string,
): FlowBody {
  const names = outer.inside();
  const nodes: FlowNode[] = [];
  const edges: FlowEdge[] = [];
  let output: Json | undefined;
  context.marks?.add(pointer, item.start, item.end);
  const label = item.labels[0];
  if (label) {
    context.report.add("FLOW2009", label.start, label.end, {
      parts: { kind: "body", needs: "takes no name" },
    });
  }
  refuse(context, item, "body");
  const items = item.items ?? [];
  const twins = twinsOf(items);
  for (const inner of items) {
    if (context.report.full) break;
    if (!context.admits(inner, "body", twins)) continue;
    if (inner.kind === "edge") mapEdge(context, inner, edges, names.edges, `${pointer}/edges`);
    else if (inner.kind === "block") mapNode(context, inner, names, nodes, `${pointer}/nodes`);
    else if (inner.name === "output" && !inner.policy) {
      output = context.value(inner.value, `${pointer}/output`);
    } else context.unknown(inner, "body", inner.policy ? [] : ["output"]);
  }
  return { nodes, edges, ...(output !== undefined && { output }) };
}

function mapLayout(
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
    if (data !== undefined) setMember(layout, attr.name, data);
  }
}
