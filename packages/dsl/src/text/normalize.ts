/** `normalizeGraph`: the one spelling of a graph among those that mean the same. */
import {
  type FieldValue,
  type FlowGraph,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
} from "@millrace/contracts";
import { isObject, memberNames, setMember } from "../expression/values.ts";
import { toExpression } from "./expression-of.ts";
import { toFieldValue } from "./values.ts";

/**
 * The graph that `parseFlow(printFlow(graph))` gives: canonical sources, literals as data, port `out` filled in, empty
 * objects that mean nothing left out. What is malformed stays as it is; never throws.
 */
export function normalizeGraph(graph: FlowGraph): FlowGraph {
  if (!isObject(graph)) return graph;
  return compact({
    ...plain(graph as unknown as JsonObject),
    meta: nonEmpty(graph.meta && plainData(graph.meta, 0)),
    policy: nonEmpty(graph.policy && plainData(graph.policy as unknown as Json, 0)),
    inputs: each(graph.inputs, (input) => plainData(input, 0)),
    nodes: each(graph.nodes, (node) => normalizeNode(node, 0)),
    edges: each(graph.edges, normalizeEdge),
    outputs: each(graph.outputs, (output) => normalizeMembers(output, ["value"])),
    connections: each(graph.connections, normalizeConnection),
    schedules: each(graph.schedules, (schedule) => normalizeMembers(schedule, ["inputs"])),
    layout: plainData(graph.layout ?? {}, 0),
  }) as unknown as FlowGraph;
}

function normalizeNode(node: JsonObject, depth: number): Json {
  const fields: Record<string, Json> = {};
  if (isObject(node["fields"])) {
    for (const name of memberNames(node["fields"])) {
      setMember(fields, name, normalizeValue(node["fields"][name] as Json));
    }
  }
  return compact({
    ...plain(node),
    fields,
    policy: nonEmpty(isObject(node["policy"]) ? normalizePolicy(node["policy"]) : node["policy"]),
    body: isObject(node["body"]) ? normalizeBody(node["body"], depth + 1) : node["body"],
  });
}

function normalizeBody(body: JsonObject, depth: number): Json {
  if (depth > MAX_JSON_DEPTH) return body;
  const { output } = body;
  return compact({
    ...plain(body),
    nodes: each(body["nodes"], (node) => normalizeNode(node, depth)),
    edges: each(body["edges"], normalizeEdge),
    output: output === undefined ? undefined : normalizeValue(output),
  });
}

function normalizePolicy(policy: JsonObject): Json {
  const normal: Record<string, Json> = {};
  for (const name of memberNames(policy)) {
    const value = policy[name] as Json;
    const values = VALUES_IN[name];
    if (name === "when" || name === "idempotencyKey") normal[name] = normalizeValue(value);
    else if (values && isObject(value)) setMember(normal, name, normalizeMembers(value, values));
    else setMember(normal, name, plainData(value, 0));
  }
  return normal;
}

/** Members of policies that hold values. */
const VALUES_IN: { readonly [policy: string]: readonly string[] } = {
  retry: ["if"],
  concurrency: ["key"],
  cache: ["key"],
  onError: ["default"],
};

function normalizeMembers(object: JsonObject, values: readonly string[]): Json {
  const normal: Record<string, Json> = {};
  for (const name of memberNames(object)) {
    const value = object[name] as Json;
    setMember(normal, name, values.includes(name) ? normalizeValue(value) : plainData(value, 0));
  }
  return normal;
}

function normalizeEdge(edge: JsonObject): Json {
  const { meta, port } = edge;
  return compact({
    ...plain(edge),
    port: port ?? "out",
    meta: nonEmpty(meta === undefined ? undefined : plainData(meta, 0)),
  });
}

function normalizeConnection(connection: JsonObject): Json {
  const { name, slug } = connection;
  return compact({ ...plain(connection), slug: slug === name ? undefined : slug });
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
  const object = value as JsonObject;
  const data: Record<string, Json> = {};
  for (const name of memberNames(object)) {
    setMember(data, name, plainData(object[name] as Json, depth + 1));
  }
  return data;
}

/** Own members, without what an object spread could do to `__proto__`. */
function plain(object: JsonObject): Record<string, Json | undefined> {
  return { ...object };
}

function compact(object: Record<string, Json | undefined>): Json {
  const kept: Record<string, Json> = {};
  for (const name of memberNames(object)) setMember(kept, name, object[name] as Json);
  return kept;
}

function nonEmpty(value: Json | undefined): Json | undefined {
  return isObject(value) && memberNames(value).length === 0 ? undefined : value;
}

function each(list: unknown, make: (item: JsonObject) => Json): Json {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return list as Json;
  return list.map((item: Json) => (isObject(item) ? make(item) : item));
}
