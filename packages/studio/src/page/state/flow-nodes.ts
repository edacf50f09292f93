/** Finds nodes of a flow by their paths, such as `pages/get` for the node `get` in the body of `pages`. */
import type { FlowBody, FlowGraph, FlowNode } from "@millrace/contracts";

/** A node with the body that it is in. */
export interface PlacedNode {
  readonly node: FlowNode;
  readonly around: FlowBody;
  /** Path of the node whose body that is; undefined: the flow itself. */
  readonly owner: string | undefined;
  /** JSON Pointer of the node, such as `/nodes/2/body/nodes/0`. */
  readonly pointer: string;
}

/** The node of a path; ids may hold a `/` themselves. Undefined: the flow has no such node. */
export function findNode(
  around: FlowBody | FlowGraph,
  path: string,
  outside: { readonly owner: string | undefined; readonly pointer: string } = TOP,
): PlacedNode | undefined {
  const { owner } = outside;
  for (const [at, node] of around.nodes.entries()) {
    const pointer = `${outside.pointer}/nodes/${at}`;
    if (node.id === path) return { node, around, owner, pointer };
    if (node.body === undefined || !path.startsWith(`${node.id}/`)) continue;
    const inside = owner === undefined ? node.id : `${owner}/${node.id}`;
    const rest = path.slice(node.id.length + 1);
    const found = findNode(node.body, rest, { owner: inside, pointer: `${pointer}/body` });
    if (found !== undefined) return found;
  }
  return undefined;
}

const TOP = { owner: undefined, pointer: "" };

/** Every node of a flow, those of bodies included, with its path. */
export function* everyNode(
  { nodes }: Pick<FlowBody, "nodes">,
  owner = "",
): Generator<{ readonly path: string; readonly node: FlowNode }> {
  for (const node of nodes) {
    const path = owner === "" ? node.id : `${owner}/${node.id}`;
    yield { path, node };
    if (node.body !== undefined) yield* everyNode(node.body, path);
  }
}
