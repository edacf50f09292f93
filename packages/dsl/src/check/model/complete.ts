/**
 * A graph with all that may be left out: who builds one by hand or in another language leaves out empty lists
 * and the port `out`. Every door for a graph goes through here, so that both forms are read alike.
 */
import type { FlowGraph } from "@millrace/contracts";
import { MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { isObject, own } from "../../data.ts";

type Level = { readonly [name: string]: unknown };

/** Lists of a flow beside its nodes. */
const LISTS: readonly string[] = ["inputs", "edges", "outputs", "connections", "schedules"];

/** The graph with empty lists, an empty layout and port `out` where they are absent; itself when nothing is. */
export function completeGraph(graph: FlowGraph): FlowGraph {
  if (!isObject(graph)) return graph;
  const level = completeLevel(graph as unknown as Level, new Map(), 0);
  const absent = LISTS.filter((name) => own(level, name) === undefined);
  const hasLayout = own(level, "layout") !== undefined;
  if (absent.length === 0 && hasLayout) return level as unknown as FlowGraph;
  return {
    ...level,
    ...Object.fromEntries(absent.map((name) => [name, []])),
    ...(!hasLayout && { layout: {} }),
  } as unknown as FlowGraph;
}

/** The nodes and edges of a flow or a body. `known`: bodies by what they became, for those that hold themselves. */
function completeLevel(level: Level, known: Map<object, Level>, depth: number): Level {
  const done = known.get(level);
  if (done !== undefined || depth > MAX_JSON_DEPTH) return done ?? level;
  known.set(level, level);
  const nodes = own(level, "nodes");
  const edges = own(level, "edges");
  const changes = {
    nodes: Array.isArray(nodes) ? sameOr(nodes, (node) => completeNode(node, known, depth)) : nodes,
    edges: edges === undefined ? [] : Array.isArray(edges) ? sameOr(edges, completeEdge) : edges,
  };
  if (changes.nodes === nodes && changes.edges === edges) return level;
  const whole = {
    ...level,
    ...(nodes !== undefined && { nodes: changes.nodes }),
    edges: changes.edges,
  };
  known.set(level, whole);
  return whole;
}

function completeNode(node: unknown, known: Map<object, Level>, depth: number): unknown {
  const body = own(node, "body");
  if (!isObject(node) || !isObject(body)) return node;
  const inner = completeLevel(body as Level, known, depth + 1);
  return inner === body ? node : { ...node, body: inner };
}

/** `from -> to` leaves by `out`. */
function completeEdge(edge: unknown): unknown {
  return isObject(edge) && own(edge, "port") === undefined ? { ...edge, port: "out" } : edge;
}

/** The list itself when every element stays what it is. */
function sameOr(list: readonly unknown[], make: (element: unknown) => unknown): readonly unknown[] {
  const made = list.map(make);
  return made.some((element, at) => element !== list[at]) ? made : list;
}
