/** Running models, each in a process of its own. */
export { createRunners, type RunnersParts } from "./create-runners.ts";
export type { ForkRunner } from "./fork-runner.ts";
export type { Machine } from "./machine.ts";
