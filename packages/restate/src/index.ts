/** Restate as the dispatcher of several servers. */
export { createRestateDispatcher } from "./dispatcher.ts";
export { type InspectedNode, inspectRestate, type RestateInspection } from "./inspect.ts";
export type { RestateDispatcherOptions, RestateLog } from "./options.ts";
