/** Measurements of a server. */
export { createMetrics, type Metrics } from "./metrics.ts";
export { standingOf } from "./standing.ts";
