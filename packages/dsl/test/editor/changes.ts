/** Random changes of a flow, and the same changes made on its graph. */
import type { FlowBody, FlowEdge, FlowGraph, FlowNode, JsonObject } from "@millrace/contracts";
import type { FlowChange } from "../../src/editor/types.ts";
import type { Random } from "../laws/random.ts";

interface Chosen {
  readonly path: string;
  readonly node: FlowNode;
}

/** Every node that its path names alone. */
function nodesOf(body: FlowBody, around: string): Chosen[] {
  const known = new Set<string>();
  return body.nodes.flatMap((node) => {
    if (known.has(node.id) || node.id.includes("/")) return [];
    known.add(node.id);
    const path = around + node.id;
    return [{ path, node }, ...(node.body ? nodesOf(node.body, `${path}/`) : [])];
  });
}

/** A change that can be made; undefined: the graph has nothing to change so. */
export function anyChange(graph: FlowGraph, r: Random): FlowChange | undefined {
  const nodes = nodesOf(graph, "");
  if (nodes.length === 0) {
    return { kind: "addNode", node: { id: "fresh", type: "log", fields: {} } };
  }
  const { path, node } = r.pick(nodes);
  const inside = r.chance(0.6) ? undefined : path;
  const body: FlowBody | undefined = inside === undefined ? graph : node.body;
  const value = r.pick([
    1,
    "text",
    "two\nlines",
    { $: "a + 1" },
    [1, { x: 2 }],
    { a: { $t: ["b", { $: "c" }] } },
  ]);
  const at = inside === undefined ? {} : { in: inside };
  switch (r.below(10)) {
    case 0: {
      const fields = r.chance(0.5) ? {} : { message: value };
      return { kind: "addNode", ...at, node: { id: "fresh node", type: "log", fields } };
    }
    case 1:
    case 2:
      return { kind: "removeNode", path };
    case 3: {
      const field = r.pick([...Object.keys(node.fields), "fresh"]);
      return { kind: "setField", path, field, value };
    }
    case 4: {
      const fields = Object.keys(node.fields);
      return fields.length > 0 ? { kind: "removeField", path, field: r.pick(fields) } : undefined;
    }
    case 5:
      return r.pick<FlowChange>([
        { kind: "setPolicy", path, policy: "retry", value: { max: 3, delayMs: 1000 } },
        { kind: "setPolicy", path, policy: "timeout", value: 5000 },
        { kind: "setPolicy", path, policy: "on-error", value: { default: value } },
        { kind: "setPolicy", path, policy: "when", value: { $: "a > 1" } },
        { kind: "setPolicy", path, policy: "delivery", value: "atMostOnce" },
      ]);
    case 6: {
      if (!body || body.nodes.length === 0) return undefined;
      const edge = { from: r.pick(body.nodes).id, port: "fresh", to: r.pick(body.nodes).id };
      return { kind: "addEdge", ...at, edge };
    }
    case 7: {
      const edges = body?.edges ?? [];
      if (edges.length === 0) return undefined;
      const { from, port, to } = r.pick(edges);
      return { kind: "removeEdge", ...at, from, port, to };
    }
    case 8:
      return { kind: "setLayout", path, x: 10, y: -20 };
    default: {
      const places = Object.keys(graph.layout ?? {});
      if (places.length === 0 || r.chance(0.3)) return { kind: "clearLayout" };
      return { kind: "clearLayout", path: r.pick(places) };
    }
  }
}

/** The graph with a change made. */
export function changedGraph(graph: FlowGraph, change: FlowChange): FlowGraph {
  switch (change.kind) {
    case "addNode":
      return inBody(graph, change.in, (body) => ({
        ...body,
        nodes: [...body.nodes, change.node],
      }));
    case "removeNode": {
      const { around, id } = split(change.path);
      const changed = inBody(graph, around, (body) => ({
        ...body,
        nodes: body.nodes.filter((node) => node !== body.nodes.find((one) => one.id === id)),
        edges: (body.edges ?? []).filter(({ from, to }) => from !== id && to !== id),
      }));
      const { path } = change;
      return withLayout(changed, (name) => name !== path && !name.startsWith(`${path}/`));
    }
    case "setField":
      return inNode(graph, change.path, (node) => ({
        ...node,
        fields: { ...node.fields, ...own(change.field, change.value) },
      }));
    case "removeField":
      return inNode(graph, change.path, (node) => ({
        ...node,
        fields: without(node.fields as JsonObject, (name) => name !== change.field),
      }));
    case "setPolicy": {
      const name = change.policy.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
      const key = name === "timeout" ? "timeoutMs" : name;
      return inNode(graph, change.path, (node) => ({
        ...node,
        policy: { ...node.policy, [key]: change.value },
      })) as FlowGraph;
    }
    case "addEdge":
      return inBody(graph, change.in, (body) => ({
        ...body,
        edges: [...(body.edges ?? []), change.edge],
      }));
    case "removeEdge": {
      const isOther = ({ from, port = "out", to }: FlowEdge): boolean =>
        from !== change.from || port !== (change.port ?? "out") || to !== change.to;
      return inBody(graph, change.in, (body) => ({
        ...body,
        edges: (body.edges ?? []).filter(isOther),
      }));
    }
    case "setLayout":
      return {
        ...graph,
        layout: { ...graph.layout, ...own(change.path, [change.x, change.y]) },
      } as FlowGraph;
    case "clearLayout":
      return withLayout(graph, (name) => change.path !== undefined && name !== change.path);
    default:
      return graph;
  }
}

/** An object with one own member, whatever its name. */
function own<T>(name: string, value: T): { readonly [name: string]: T } {
  return Object.fromEntries([[name, value]]);
}

function without(object: JsonObject, stays: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => stays(name)));
}

function withLayout(graph: FlowGraph, stays: (name: string) => boolean): FlowGraph {
  const layout = without((graph.layout ?? {}) as unknown as JsonObject, stays);
  return { ...graph, layout } as unknown as FlowGraph;
}

function split(path: string): { readonly around: string | undefined; readonly id: string } {
  const at = path.lastIndexOf("/");
  return { around: at === -1 ? undefined : path.slice(0, at), id: path.slice(at + 1) };
}

function inNode(graph: FlowGraph, path: string, make: (node: FlowNode) => object): FlowGraph {
  const { around, id } = split(path);
  return inBody(graph, around, (body) => {
    const first = body.nodes.find((node) => node.id === id);
    const nodes = body.nodes.map((node) => (node === first ? (make(node) as FlowNode) : node));
    return { ...body, nodes };
  });
}

function inBody(
  graph: FlowGraph,
  owner: string | undefined,
  make: (body: FlowBody) => FlowBody,
): FlowGraph {
  if (owner === undefined) return make(graph) as FlowGraph;
  return inNode(graph, owner, (node) => ({
    ...node,
    body: make(node.body ?? { nodes: [], edges: [] }),
  }));
}
