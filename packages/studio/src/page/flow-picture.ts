/** Drawing flows, for screens that load it when it is asked for: `await import(…)` of this file. */
export { drawFlow, layoutDrawing, nodeStates } from "@millrace/graph";
