/**
 * Graph to items, with the structural check of a graph by hand: the language does without a schema library. A value that
 * is no `FlowGraph` throws `DslError` code `graph_invalid` with the pointer of the bad place.
 */

import type { FlowGraph } from "@millrace/contracts";
import { type Json, type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { append, isObject, memberNames, pointerSegment } from "../data.ts";
import { DslError } from "../errors.ts";
import {
  FLOW_POLICIES,
  type MemberKind,
  NODE_POLICIES,
  POLICY_KINDS,
  POLICY_MEMBERS,
} from "../language/blocks.ts";
import { dataExpression, toExpression } from "../language/expression-of.ts";
import type {
  AttrItem,
  BlockItem,
  EdgeEnd,
  EdgeItem,
  Item,
  Label,
  TypeNode,
} from "../language/items.ts";
import { DURATION, NEEDED, POLICY_SHAPES } from "../language/member-shapes.ts";
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
    for (const [index, value] of listAt(flow[name], `/${name}`).entries()) {
      const pointer = `/${name}/${index}`;
      items.push(make(objectAt(value, pointer), pointer));
    }
  };
  each("inputs", inputItem);
  each("connections", connectionItem);
  each("schedules", scheduleItem);
  if (!Array.isArray(flow["nodes"])) invalid("/nodes", "must be a list");
  each("nodes", (node, pointer) => nodeItem(node, pointer, 0));
  each("edges", edgeItem);
  each("outputs", outputItem);
  const layout = flow["layout"] === undefined ? {} : objectAt(flow["layout"], "/layout");
  const places = dataAttrs(layout, "/layout");
  if (places.length > 0) items.push(block("layout", { items: places }));
  return items;
}

const GRAPH_MEMBERS: readonly string[] = [
  "version",
  "id",
  "title",
  "meta",
  "policy",
  "inputs",
  "nodes",
  "edges",
  "outputs",
  "connections",
  "schedules",
  "layout",
];

function headerItem(flow: JsonObject): Item {
  const items: Item[] = [];
  const title = optionalText(flow, "title", "");
  if (title !== undefined) items.push(attr("title", { kind: "literal", value: title, ...NOWHERE }));
  if (flow["meta"] !== undefined) {
    const meta = objectAt(flow["meta"], "/meta");
    if (meta["title"] !== undefined)
      invalid("/meta/title", "belongs to the flow itself, as `title`");
    append(items, dataAttrs(meta, "/meta"));
  }
  if (flow["policy"] !== undefined) {
    append(items, policyItems(objectAt(flow["policy"], "/policy"), "/policy", FLOW_POLICIES));
  }
  const version: Label = { text: "1", digits: true, ...NOWHERE };
  return block("flow", { labels: [version, label(textAt(flow, "id", ""))], items });
}

function inputItem(input: JsonObject, pointer: string): Item {
  known(input, pointer, ["name", "schema", "default", "description"]);
  const value = input["default"];
  return block("input", {
    labels: [label(textAt(input, "name", pointer))],
    value: value === undefined ? undefined : data(value, `${pointer}/default`),
    items: aboutItems(input, pointer),
  });
}

function outputItem(output: JsonObject, pointer: string): Item {
  known(output, pointer, ["name", "schema", "value", "description"]);
  const { value } = output;
  if (value === undefined) invalid(`${pointer}/value`, "must be a value");
  return block("output", {
    labels: [label(textAt(output, "name", pointer))],
    value: field(value as Json, `${pointer}/value`, 0),
    items: aboutItems(output, pointer),
  });
}

/** `description` and `schema`; a schema that is a type is printed as one. */
function aboutItems(about: JsonObject, pointer: string): Item[] {
  const items = textAttrs(about, ["description"], pointer);
  if (about["schema"] !== undefined) {
    const place = `${pointer}/schema`;
    items.push(attr("schema", data(objectAt(about["schema"], place), place)));
  }
  return items;
}

function connectionItem(connection: JsonObject, pointer: string): Item {
  known(connection, pointer, ["name", "auth", "service", "slug", "scopes"]);
  const items = textAttrs(connection, ["service", "slug"], pointer);
  if (connection["scopes"] !== undefined) {
    const place = `${pointer}/scopes`;
    for (const [index, scope] of listAt(connection["scopes"], place).entries()) {
      if (typeof scope !== "string") invalid(`${place}/${index}`, "must be a string");
    }
    items.push(attr("scopes", data(connection["scopes"], place)));
  }
  return block("connection", {
    labels: [label(textAt(connection, "name", pointer))],
    type: typeNode(textAt(connection, "auth", pointer)),
    items,
  });
}

const SCHEDULE_MEMBERS: readonly string[] = [
  "name",
  "cron",
  "everyMs",
  "at",
  "timezone",
  "inputs",
  "enabled",
  "overlap",
  "catchUp",
];

function scheduleItem(schedule: JsonObject, pointer: string): Item {
  known(schedule, pointer, SCHEDULE_MEMBERS);
  const items = textAttrs(schedule, ["cron", "at", "timezone", "overlap", "catchUp"], pointer);
  const { everyMs, inputs, enabled } = schedule;
  if (everyMs !== undefined) {
    if (!Number.isSafeInteger(everyMs) || (everyMs as number) < 0) {
      invalid(`${pointer}/everyMs`, "must be a whole number of milliseconds");
    }
    items.push(attr("every", { kind: "duration", ms: everyMs as number, ...NOWHERE }));
  }
  if (inputs !== undefined) {
    const place = `${pointer}/inputs`;
    const value = field(objectAt(inputs, place), place, 0);
    if (value.kind !== "object") invalid(place, "must be an object, not an expression");
    items.push(attr("inputs", value));
  }
  if (enabled !== undefined) {
    if (typeof enabled !== "boolean") invalid(`${pointer}/enabled`, "must be true or false");
    items.push(attr("enabled", data(enabled, `${pointer}/enabled`)));
  }
  return block("schedule", { labels: [label(textAt(schedule, "name", pointer))], items });
}

function nodeItem(node: JsonObject, pointer: string, depth: number): Item {
  known(node, pointer, ["id", "type", "typeVersion", "fields", "policy", "body"]);
  const items: Item[] = [];
  const fields = node["fields"] === undefined ? {} : objectAt(node["fields"], `${pointer}/fields`);
  for (const name of memberNames(fields)) {
    const place = `${pointer}/fields${pointerSegment(name)}`;
    items.push(attr(name, field(fields[name] as Json, place, depth)));
  }
  if (node["policy"] !== undefined) {
    const place = `${pointer}/policy`;
    append(items, policyItems(objectAt(node["policy"], place), place, NODE_POLICIES, depth));
  }
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
  const items: Item[] = [];
  if (!Array.isArray(body["nodes"])) invalid(`${pointer}/nodes`, "must be a list");
  for (const [index, node] of listAt(body["nodes"], `${pointer}/nodes`).entries()) {
    const place = `${pointer}/nodes/${index}`;
    items.push(nodeItem(objectAt(node, place), place, depth));
  }
  for (const [index, edge] of listAt(body["edges"], `${pointer}/edges`).entries()) {
    const place = `${pointer}/edges/${index}`;
    items.push(edgeItem(objectAt(edge, place), place));
  }
  const { output } = body;
  if (output !== undefined) items.push(attr("output", field(output, `${pointer}/output`, depth)));
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

/** The items of a `policy` object. */
function policyItems(
  policy: JsonObject,
  pointer: string,
  table: readonly (readonly [string, string])[],
  depth = 0,
): Item[] {
  return memberNames(policy).map((name) => {
    const row = table.find(([, graph]) => graph === name);
    const place = pointer + pointerSegment(name);
    if (!row) return invalid(place, "is not known");
    const [text] = row;
    const value = policy[name] as Json;
    const members = pointer === "/policy" ? undefined : POLICY_MEMBERS.get(text);
    const expression =
      members && isObject(value)
        ? policyMembers(value, text, place, depth)
        : policyMember(value, POLICY_KINDS.get(text) ?? "literal", text, place, depth);
    return attr(text, expression, true);
  });
}

function policyMembers(
  object: JsonObject,
  policy: string,
  pointer: string,
  depth: number,
): Expression {
  const members = POLICY_MEMBERS.get(policy) ?? [];
  const names = memberNames(object);
  const missing = (NEEDED[policy] ?? []).find(([, name]) => !names.includes(name));
  if (missing !== undefined) invalid(`${pointer}/${missing[1]}`, "is needed");
  const entries = names.map((name) => {
    const row = members.find(([, graph]) => graph === name);
    const place = pointer + pointerSegment(name);
    if (!row) return invalid(place, "is not known");
    const [key, , kind] = row;
    return { key, value: policyMember(object[name] as Json, kind, key, place, depth + 1) };
  });
  return { kind: "object", entries, ...NOWHERE };
}

function policyMember(
  value: Json,
  kind: MemberKind,
  name: string,
  pointer: string,
  depth: number,
): Expression {
  if (kind === "value") return field(value, pointer, depth);
  if (kind === "duration") {
    if (!DURATION.is(value)) invalid(pointer, `must be ${DURATION.rule}`);
    return { kind: "duration", ms: value as number, ...NOWHERE };
  }
  const shape = POLICY_SHAPES[name];
  if (shape && !shape.is(value)) invalid(pointer, `must be ${shape.rule}`);
  return data(value, pointer);
}

/** An attribute without notes. */
function attr(name: string, value: Expression, policy = false): AttrItem {
  const bare = { policy, name, nameStart: 0, nameEnd: 0, value, data: undefined };
  return { kind: "attr", ...bare, ...NO_NOTES, ...NOWHERE };
}

function block(
  word: string,
  parts: Partial<Pick<BlockItem, "labels" | "type" | "value" | "items">>,
): BlockItem {
  return {
    kind: "block",
    word,
    wordEnd: 0,
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

function textAttrs(object: JsonObject, names: readonly string[], pointer: string): Item[] {
  return names.flatMap((name) => {
    const value = optionalText(object, name, pointer);
    return value === undefined ? [] : [attr(name, { kind: "literal", value, ...NOWHERE })];
  });
}

/** The expression of a value, `depth` bodies deep. */
function field(value: Json, pointer: string, depth: number): Expression {
  return toExpression(value, pointer, WALK, depth) as Expression;
}

/** The expression of plain data. */
function data(value: Json, pointer: string): Expression {
  return dataExpression(value, pointer, WALK) as Expression;
}

const WALK = { refuse: invalid, maxDepth: MAX_JSON_DEPTH };

/** Throws `graph_invalid`. */
function invalid(pointer: string, message: string): never {
  throw new DslError("graph_invalid", `${pointer === "" ? "the graph" : pointer} ${message}`, {
    pointer,
  });
}

function objectAt(value: unknown, pointer: string): JsonObject {
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

/** A member that nobody knows would be lost in the text. */
function known(object: JsonObject, pointer: string, names: readonly string[]): void {
  const stranger = memberNames(object).find((name) => !names.includes(name));
  if (stranger !== undefined) invalid(pointer + pointerSegment(stranger), "is not known");
}
