/**
 * The edges that references imply: a reader waits until what it reads is resolved. They add waiting and data, never
 * control; they are computed, never stored.
 */
import type { CatalogEntry, FlowGraph } from "@millrace/contracts";
import { treeOf } from "../syntax/trees.ts";
import { modelOf, type NodeModel } from "./model/bodies.ts";
import { readsOf, waitsFor } from "./model/resolve.ts";
import { Leaf, outputSites, type Site, sitesOfNode } from "./model/sites.ts";
import { visitValue } from "./model/walk-value.ts";

/**
 * A reader and a node that it reads, as node paths: ids joined by `/` from the flow inwards (`pages/get`).
 * A reader inside a body that reads a node outside of it makes the body's owner wait: in the body of `from`, the waiting
 * node is `to` cut to as many ids as `from` has. What the `output` of a body reads outside of it, its owner reads.
 */
export interface ImpliedEdge {
  readonly from: string;
  readonly to: string;
  /** JSON Pointer of the first expression with that reference. */
  readonly pointer: string;
}

/**
 * One edge for each pair of reader and node read, by reader in the order of the graph, bodies after the nodes that own
 * them. What the `output` of a body reads inside that body is no edge, nor is what outputs of the flow read: those are no
 * nodes. Never throws: what is no graph has no edges.
 * `catalog` tells of deferred fields of types that are not core's.
 */
export function impliedEdges(
  graph: FlowGraph,
  catalog?: { entry(type: string, version?: number): CatalogEntry | undefined },
): ImpliedEdge[] {
  const model = modelOf(graph, (type, version) => catalog?.entry(type, version));
  const known = new Map<NodeModel, Map<NodeModel, Leaf>>();
  for (const node of model.nodes) known.set(node, new Map());
  const read = (site: Site): void => {
    const found = site.reader && known.get(site.reader);
    if (found === undefined) return;
    visitValue(
      site.value,
      {
        expression: (source, path, hole, alone) => {
          const tree = treeOf(source);
          if (!("kind" in tree)) return;
          const leaf = new Leaf(site, source, path, hole, alone);
          for (const { node } of readsOf(tree, site.body, leaf.roots)) {
            if (node === undefined || found.has(node) || !waitsFor(site, node)) continue;
            found.set(node, leaf);
          }
        },
      },
      site.schemas,
    );
  };
  for (const node of model.nodes) sitesOfNode(node).forEach(read);
  outputSites(graph, model).forEach(read);
  const edges: ImpliedEdge[] = [];
  for (const [reader, found] of known) {
    for (const [node, { pointer }] of found) {
      edges.push({ from: node.path, to: reader.path, pointer });
    }
  }
  return edges;
}
