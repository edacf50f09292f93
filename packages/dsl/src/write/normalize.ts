/** `normalizeGraph`: the one spelling of a graph among those that mean the same. */

import type { FieldValue, FlowGraph } from "@millrace/contracts";
import { type Json, type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { memberNames } from "@millrace/contracts/kit";
import { isObject, setMember } from "../data.ts";
import { BLOCKS, type Member, memberByKey, NODE_POLICIES } from "../language/blocks.ts";
import { toExpression, toFieldValue } from "../language/field-value.ts";

/**
 * The graph that `parseFlow(printFlow(graph))` gives: canonical sources, literals as data, port `out` filled in, empty
 * objects that mean nothing left out. What is malformed stays as it is; never throws.
 */
export function normalizeGraph(graph: FlowGraph): FlowGraph {
  return normalizeWith(graph, (list, _, make) => list.map(make));
}

/** Handles a list of a graph or of a body: its elements, the name of the list, and how one of them is normalized. */
export type Collect = (
  list: readonly Json[],
  name: string,
  make: (element: Json) => Json,
) => readonly Json[];

/** The normalized graph with its lists as `collect` makes them, those of bodies first. */
export function normalizeWith(graph: FlowGraph, collect: Collect): FlowGraph {
  if (!isObject(graph)) return graph;
  const each = (name: string, make: (item: JsonObject) => Json): Json =>
    collected(graph[name as keyof FlowGraph] as Json, name, make, collect);
  return changed(graph as unknown as JsonObject, {
    meta: nonEmpty(graph.meta && plainData(graph.meta, 0)),
    policy: nonEmpty(graph.policy && plainData(graph.policy as unknown as Json, 0)),
    inputs: each("inputs", (input) => plainData(input, 0)),
    nodes: each("nodes", (node) => normalizeNode(node, 0, collect)),
    edges: each("edges", normalizeEdge),
    outputs: each("outputs", (output) => normalizeMembers(output, OUTPUT)),
    connections: each("connections", normalizeConnection),
    schedules: each("schedules", (schedule) =>
      normalizeMembers(schedule, BLOCKS.schedule.attributes ?? []),
    ),
    layout: plainData(graph.layout ?? {}, 0),
  }) as unknown as FlowGraph;
}

const OUTPUT = [{ key: "value", kind: "value" }] as const;

function normalizeNode(node: JsonObject, depth: number, collect: Collect): Json {
  const { fields, policy, body } = node;
  return changed(node, {
    fields: isObject(fields) ? mapMembers(fields, normalizeValue) : {},
    policy: nonEmpty(isObject(policy) ? mapMembers(policy, normalizePolicy) : policy),
    body: isObject(body) ? normalizeBody(body, depth + 1, collect) : body,
  });
}

function normalizeBody(body: JsonObject, depth: number, collect: Collect): Json {
  if (depth > MAX_JSON_DEPTH) return body;
  const { nodes, edges, output } = body;
  return changed(body, {
    nodes: collected(nodes, "nodes", (node) => normalizeNode(node, depth, collect), collect),
    edges: collected(edges, "edges", normalizeEdge, collect),
    output: output === undefined ? undefined : normalizeValue(output),
  });
}

function normalizePolicy(value: Json, name: string): Json {
  const { kind, members } = memberByKey(NODE_POLICIES, name) ?? {};
  if (kind === "value") return normalizeValue(value);
  return members && isObject(value) ? normalizeMembers(value, members) : plainData(value, 0);
}

/** The members of an object, of which some hold values; the others are data. */
function normalizeMembers(
  object: JsonObject,
  members: readonly { readonly key: string; readonly kind: Member["kind"] }[],
): Json {
  const values = members.filter(({ kind }) => kind === "value" || kind === "values");
  return mapMembers(object, (value, name) =>
    values.some(({ key }) => key === name) ? normalizeValue(value) : plainData(value, 0),
  );
}

function normalizeEdge(edge: JsonObject): Json {
  const { meta, port } = edge;
  return changed(edge, {
    port: port ?? "out",
    meta: nonEmpty(meta === undefined ? undefined : plainData(meta, 0)),
  });
}

function normalizeConnection(connection: JsonObject): Json {
  const { name, slug } = connection;
  return changed(connection, { slug: slug === name ? undefined : slug });
}

const WALK = { refuse: () => {}, maxDepth: MAX_JSON_DEPTH };

/** A value with canonical sources; one with a malformed part as it is. */
function normalizeValue(value: FieldValue): FieldValue {
  const expression = toExpression(value, "", WALK);
  return expression ? toFieldValue(expression, "", undefined) : value;
}

/** Data without undefined members, and with 0 for -0. */
function plainData(value: Json, depth: number): Json {
  if (typeof value !== "object" || value === null) return value === 0 ? 0 : value;
  if (depth > MAX_JSON_DEPTH) return value;
  if (Array.isArray(value))
    return (value as Json[]).map((element) => plainData(element, depth + 1));
  return mapMembers(value as JsonObject, (inner) => plainData(inner, depth + 1));
}

/** The members that are there, each as `make` makes it. */
function mapMembers(object: JsonObject, make: (value: Json, name: string) => Json): JsonObject {
  const made: Record<string, Json> = {};
  for (const name of memberNames(object)) {
    setMember(made, name, make(object[name] as Json, name));
  }
  return made;
}

/** A copy with other members; those that are undefined are left out. */
function changed(object: JsonObject, changes: { readonly [name: string]: Json | undefined }): Json {
  const copy: Record<string, Json> = {};
  for (const name of Object.keys(object)) {
    const value = Object.hasOwn(changes, name) ? changes[name] : object[name];
    if (value !== undefined) setMember(copy, name, value);
  }
  for (const name of Object.keys(changes)) {
    const value = changes[name];
    if (value !== undefined && !Object.hasOwn(object, name)) copy[name] = value;
  }
  return copy;
}

function nonEmpty(value: Json | undefined): Json | undefined {
  return isObject(value) && memberNames(value).length === 0 ? undefined : value;
}

function collected(
  list: Json | undefined,
  name: string,
  make: (item: JsonObject) => Json,
  collect: Collect,
): Json {
  if (list !== undefined && !Array.isArray(list)) return list;
  const one = (item: Json): Json => (isObject(item) ? make(item) : item);
  return collect((list as readonly Json[] | undefined) ?? [], name, one) as Json;
}
