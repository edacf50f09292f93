/** Running models, each in a process of its own. */
export { createRunners } from "./create-runners.ts";
export type { Machine } from "./machine.ts";
