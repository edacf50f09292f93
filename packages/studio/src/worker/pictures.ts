/** The picture of a flow. Loaded by the worker with the first one that is asked for. */
import type { FlowGraph } from "@millrace/contracts";
import { drawFlow, layoutDrawing, type Picture, type Pins } from "@millrace/graph";

/** Places the nodes and edges of a flow, those with a place in its layout where it says. */
export function pictureOf(graph: FlowGraph): Picture {
  return layoutDrawing(drawFlow(graph), graph.layout as Pins);
}
