/** Draws flows: the drawing as data, its layout, and pictures of it. */
export { toDot } from "./dot.ts";
export { type Drawing, type DrawnEdge, type DrawnNode, drawFlow } from "./drawing.ts";
export { type Box, type Line, layoutDrawing, type Picture } from "./layout.ts";
export { type Mark, markOf } from "./marks.ts";
export { toMermaid } from "./mermaid.ts";
export type { Pins, Point } from "./pins.ts";
export { nodeStates } from "./states.ts";
export { HEAD_H, pictureToSvg, toSvg } from "./svg.ts";
