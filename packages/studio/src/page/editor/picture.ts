/** Pictures of graphs, drawn by the worker of the page. */
import type { FlowGraph } from "@millrace/contracts";
import type { Picture } from "@millrace/graph";
import { askFreely } from "./worker.ts";

const known = new WeakMap<FlowGraph, Promise<Picture>>();

/** The picture of a graph; everybody who asks for the one of the same graph gets the same. */
export function pictureOf(graph: FlowGraph): Promise<Picture> {
  const before = known.get(graph);
  if (before !== undefined) return before;
  const asked = askFreely("picture", graph);
  known.set(graph, asked);
  asked.catch(() => known.delete(graph)); // the next one to ask tries again
  return asked;
}
