/**
 * Graph to items, with the structural check of a graph by hand: the language does without a schema library. A value that
 * is no `FlowGraph` throws `DslError` code `graph_invalid` with the pointer of the bad place.
 */
import type { FlowGraph } from "@millrace/contracts";
import { type Json, type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { append, isObject } from "../data.ts";
import { DslError } from "../errors.ts";
import {
  BLOCKS,
  FLOW_POLICIES,
  type Member,
  memberByKey,
  NODE_POLICIES,
  TITLE,
} from "../language/blocks.ts";
import { toExpression } from "../language/field-value.ts";
import type {
  AttrItem,
  BlockItem,
  EdgeEnd,
  EdgeItem,
  Item,
  Label,
  TypeNode,
} from "../language/items.ts";
import type { Expression } from "../syntax/ast.ts";
import { type Collection, NO_COMMENTS, NO_NOTES } from "../syntax/notes.ts";

const NOWHERE = { start: 0, end: 0 };

/** The items that say a graph. */
export function itemsOf(graph: FlowGraph): Item[] {
  const flow = objectAt(graph, "");
  known(flow, "", GRAPH_MEMBERS);
  if (flow["version"] !== 1) invalid("/version", "must be 1");
  const items: Item[] = [headerItem(flow)];
  const each = (name: string, make: (value: JsonObject, pointer: string) => Item): void => {
    append(items, elementItems(flow[name], `/${name}`, make));
  };
  for (const keyword of ["input", "connection", "schedule"] as const) {
    each(`${keyword}s`, (value, pointer) => declarationItem(keyword, value, pointer));
  }
  if (!Array.isArray(flow["nodes"])) invalid("/nodes", "must be a list");
  each("nodes", (node, pointer) => nodeItem(node, pointer, 0));
  each("edges", edgeItem);
  each("outputs", (value, pointer) => declarationItem("output", value, pointer));
  const layout = flow["layout"] === undefined ? {} : objectAt(flow["layout"], "/layout");
  const places = dataAttrs(layout, "/layout");
  if (places.length > 0) items.push(block("layout", { items: places }));
  return items;
}

const GRAPH_MEMBERS: readonly string[] = [
  ...["version", "id", "title", "meta", "policy", "inputs", "nodes", "edges", "outputs"],
  ...["connections", "schedules", "layout"],
];

/** The items of a list of objects, which may be absent. */
function elementItems(
  list: Json | undefined,
  pointer: string,
  make: (value: JsonObject, pointer: string) => Item,
): Item[] {
  return listAt(list, pointer).map((value, index) => {
    const place = `${pointer}/${index}`;
    return make(objectAt(value, place), place);
  });
}

function headerItem(flow: JsonObject): Item {
  const items = memberItems(flow, [TITLE], "");
  if (flow["meta"] !== undefined) {
    const meta = objectAt(flow["meta"], "/meta");
    if (meta["title"] !== undefined)
      invalid("/meta/title", "belongs to the flow itself, as `title`");
    append(items, dataAttrs(meta, "/meta"));
  }
  append(items, policyItems(flow, "", FLOW_POLICIES, 0));
  const version: Label = { text: "1", digits: true, ...NOWHERE };
  return block("flow", { labels: [version, label(textAt(flow, "id", ""))], items });
}

/** Parts of the head of a declaration beside its name: the member of its type, and of its value. */
const HEADS = {
  input: { value: "default" },
  output: { value: "value" },
  connection: { type: "auth" },
  schedule: {},
} as const satisfies { [keyword: string]: { readonly type?: string; readonly value?: string } };

function declarationItem(
  keyword: keyof typeof HEADS,
  object: JsonObject,
  pointer: string,
): BlockItem {
  const members = BLOCKS[keyword].attributes ?? [];
  const head = HEADS[keyword];
  known(object, pointer, ["name", ...Object.values(head), ...members.map(({ key }) => key)]);
  const items = memberItems(object, members, pointer);
  let value: Expression | undefined;
  if ("value" in head) {
    const given = object[head.value];
    const place = `${pointer}/${head.value}`;
    if (keyword === "output") {
      if (given === undefined) invalid(place, "must be a value");
      value = field(given as Json, place, 0);
    } else if (given !== undefined) value = data(given, place);
  }
  return block(keyword, {
    labels: [label(textAt(object, "name", pointer))],
    type: "type" in head ? typeNode(textAt(object, head.type, pointer)) : undefined,
    value,
    items,
  });
}

function nodeItem(node: JsonObject, pointer: string, depth: number): Item {
  known(node, pointer, ["id", "type", "typeVersion", "fields", "policy", "body"]);
  const fields = node["fields"] === undefined ? {} : objectAt(node["fields"], `${pointer}/fields`);
  const items: Item[] = memberNames(fields).map((name) =>
    attr(name, field(fields[name] as Json, `${pointer}/fields${pointerSegment(name)}`, depth)),
  );
  append(items, policyItems(node, pointer, NODE_POLICIES, depth));
  if (node["body"] !== undefined) {
    items.push(bodyItem(objectAt(node["body"], `${pointer}/body`), `${pointer}/body`, depth + 1));
  }
  const version = node["typeVersion"];
  if (version !== undefined && !(Number.isSafeInteger(version) && (version as number) > 0)) {
    invalid(`${pointer}/typeVersion`, "must be a whole number from 1");
  }
  return block("node", {
    labels: [label(textAt(node, "id", pointer))],
    type: typeNode(textAt(node, "type", pointer), version as number | undefined),
    items,
  });
}

function bodyItem(body: JsonObject, pointer: string, depth: number): Item {
  if (depth > MAX_JSON_DEPTH) invalid(pointer, `is nested deeper than ${MAX_JSON_DEPTH} levels`);
  known(body, pointer, ["nodes", "edges", "output"]);
  if (!Array.isArray(body["nodes"])) invalid(`${pointer}/nodes`, "must be a list");
  const items = elementItems(body["nodes"], `${pointer}/nodes`, (node, place) =>
    nodeItem(node, place, depth),
  );
  append(items, elementItems(body["edges"], `${pointer}/edges`, edgeItem));
  append(items, memberItems(body, BLOCKS.body.attributes ?? [], pointer, depth));
  return block("body", { items });
}

function edgeItem(edge: JsonObject, pointer: string): EdgeItem {
  known(edge, pointer, ["from", "port", "to", "meta"]);
  const end = (node: string, port?: string): EdgeEnd => ({ node, port, ...NOWHERE, nodeEnd: 0 });
  const meta = edge["meta"] === undefined ? undefined : objectAt(edge["meta"], `${pointer}/meta`);
  return {
    kind: "edge",
    ends: [
      end(textAt(edge, "from", pointer), optionalText(edge, "port", pointer)),
      end(textAt(edge, "to", pointer)),
    ],
    meta: meta && (data(meta, `${pointer}/meta`) as Collection),
    ...NO_NOTES,
    ...NOWHERE,
  };
}

/** The attributes of the members that an object has, `depth` bodies deep. */
function memberItems(
  object: JsonObject,
  members: readonly Member[],
  pointer: string,
  depth = 0,
): Item[] {
  return members
    .filter(({ key }) => object[key] !== undefined)
    .map((member) => {
      const { text, key } = member;
      return attr(text, memberValue(object[key] as Json, member, `${pointer}/${key}`, depth));
    });
}

/** The items of the `policy` of a node or flow, if it has one. */
function policyItems(
  holder: JsonObject,
  holderPointer: string,
  table: readonly Member[],
  depth: number,
): Item[] {
  if (holder["policy"] === undefined) return [];
  const pointer = `${holderPointer}/policy`;
  const policy = objectAt(holder["policy"], pointer);
  return memberNames(policy).map((name) => {
    const member = memberByKey(table, name);
    const place = pointer + pointerSegment(name);
    if (!member) return invalid(place, "is not known");
    const value = policy[name] as Json;
    const expression =
      member.members && isObject(value)
        ? groupValue(value, member.members, place, depth)
        : memberValue(value, member, place, depth);
    return attr(member.text, expression, true);
  });
}

/** The object of a policy that has members. */
function groupValue(
  object: JsonObject,
  members: readonly Member[],
  pointer: string,
  depth: number,
): Expression {
  const names = memberNames(object);
  const missing = members.find(({ key, needed }) => needed && !names.includes(key));
  if (missing !== undefined) invalid(`${pointer}/${missing.key}`, "is needed");
  const entries = names.map((name) => {
    const member = memberByKey(members, name);
    const place = pointer + pointerSegment(name);
    if (!member) return invalid(place, "is not known");
    return { key: member.text, value: memberValue(object[name] as Json, member, place, depth + 1) };
  });
  return { kind: "object", entries, ...NOWHERE };
}

function memberValue(
  value: Json,
  { kind, shape }: Member,
  pointer: string,
  depth: number,
): Expression {
  if (kind === "value") return field(value, pointer, depth);
  const wrong =
    shape?.elements && Array.isArray(value) ? value.findIndex((it) => !shape.elements?.is(it)) : -1;
  if (wrong !== -1) invalid(`${pointer}/${wrong}`, `must be ${shape?.elements?.rule}`);
  if (shape && !shape.is(value)) invalid(pointer, `must be ${shape.rule}`);
  if (kind === "duration") return { kind: "duration", ms: value as number, ...NOWHERE };
  if (kind === "literal") return data(value, pointer);
  const values = field(value, pointer, depth);
  if (values.kind !== "object") invalid(pointer, "must be an object, not an expression");
  return values;
}

/** An attribute without notes. */
function attr(name: string, value: Expression, policy = false): AttrItem {
  const bare = { policy, name, nameStart: 0, nameEnd: 0, value };
  return { kind: "attr", ...bare, ...NO_NOTES, ...NOWHERE };
}

function block(
  keyword: string,
  parts: Partial<Pick<BlockItem, "labels" | "type" | "value" | "items">>,
): BlockItem {
  return {
    kind: "block",
    keyword,
    keywordEnd: 0,
    labels: parts.labels ?? [],
    type: parts.type,
    value: parts.value,
    items: parts.items,
    foot: NO_COMMENTS,
    ...NO_NOTES,
    ...NOWHERE,
  };
}

function label(text: string): Label {
  return { text, digits: false, ...NOWHERE };
}

function typeNode(name: string, version?: number): TypeNode {
  return { kind: "name", name, nameEnd: 0, version, ...NOWHERE };
}

function dataAttrs(object: JsonObject, pointer: string): Item[] {
  return memberNames(object).map((name) =>
    attr(name, data(object[name] as Json, pointer + pointerSegment(name))),
  );
}

/** The expression of a value, `depth` bodies deep. */
function field(value: Json, pointer: string, depth: number): Expression {
  return toExpression(value, pointer, WALK, depth) as Expression;
}

/** The expression of plain data. */
function data(value: Json, pointer: string): Expression {
  return toExpression(value, pointer, { ...WALK, isData: true }) as Expression;
}

const WALK = { refuse: invalid, maxDepth: MAX_JSON_DEPTH };

/** Throws `graph_invalid`. */
function invalid(pointer: string, message: string): never {
  throw new DslError("graph_invalid", `${pointer === "" ? "the graph" : pointer} ${message}`, {
    pointer,
  });
}

function objectAt(value: unknown, pointer: string): JsonObject {
  // An instance of a class too: it prints by its own members.
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    invalid(pointer, "must be an object");
  }
  return value as JsonObject;
}

function listAt(value: unknown, pointer: string): readonly Json[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) invalid(pointer, "must be a list");
  return value as readonly Json[];
}

function textAt(object: JsonObject, name: string, pointer: string): string {
  const value = optionalText(object, name, pointer);
  if (value === undefined) invalid(`${pointer}/${name}`, "must be a string");
  return value as string;
}

function optionalText(object: JsonObject, name: string, pointer: string): string | undefined {
  const value = object[name];
  if (value !== undefined && typeof value !== "string") {
    invalid(`${pointer}/${name}`, "must be a string");
  }
  return value as string | undefined;
}

/** Refuses unknown members: they would be lost in the text. */
function known(object: JsonObject, pointer: string, names: readonly string[]): void {
  const stranger = memberNames(object).find((name) => !names.includes(name));
  if (stranger !== undefined) invalid(pointer + pointerSegment(stranger), "is not known");
}
