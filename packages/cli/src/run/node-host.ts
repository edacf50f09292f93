/** Node's host for code that loads it when it is needed: the whole of `@millrace/engine/node` would bring the node types along. */
export { createEgressCheck, createNodeHost } from "@millrace/engine/node";
