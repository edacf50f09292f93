/**
 * The edges that references imply: a reader waits until what it reads is resolved. They add waiting and data, never
 * control; they are computed, never stored.
 */
import type { CatalogEntry, FlowGraph } from "@millrace/contracts";
import type { Expression } from "./expression/ast.ts";
import { parseExpression } from "./expression/parse.ts";
import { findReferences } from "./expression/references.ts";
import { isWithin, modelOf, type NodeModel } from "./model/bodies.ts";
import { meaningOf } from "./model/resolve.ts";
import { rootsOf, type Site, siteLeaves, sitesOf } from "./model/sites.ts";

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
  const model = modelOf(graph);
  const order = new Map<NodeModel, Map<NodeModel, string>>();
  for (const node of model.nodes) order.set(node, new Map());
  const trees = new Map<string, Expression | undefined>();
  const entryOf = ({ node }: NodeModel): CatalogEntry | undefined =>
    catalog?.entry(node.type, node.typeVersion);
  for (const site of sitesOf(graph, model, entryOf)) {
    const { reader } = site;
    if (reader === undefined) continue;
    const reads = order.get(reader);
    for (const leaf of siteLeaves(site)) {
      const tree = parsed(leaf.source, trees);
      if (tree === undefined) continue;
      const roots = rootsOf(site, leaf);
      for (const reference of findReferences(tree)) {
        const meaning = meaningOf(reference, site.body, roots);
        if (meaning.kind !== "node" || isOwn(site, meaning.node)) continue;
        if (!reads?.has(meaning.node)) reads?.set(meaning.node, leaf.pointer);
      }
    }
  }
  const edges: ImpliedEdge[] = [];
  for (const [reader, reads] of order) {
    for (const [node, pointer] of reads) edges.push({ from: node.path, to: reader.path, pointer });
  }
  return edges;
}

/** A body's output reads the nodes of the body: its owner holds them, it does not wait for them. */
function isOwn({ kind, reader }: Site, node: NodeModel): boolean {
  return (
    kind === "body-output" && reader !== undefined && node !== reader && isWithin(node, reader)
  );
}

function parsed(
  source: string,
  trees: Map<string, Expression | undefined>,
): Expression | undefined {
  const known = trees.get(source);
  if (known !== undefined || trees.has(source)) return known;
  const tree = parseExpression(source).ast;
  trees.set(source, tree);
  return tree;
}
