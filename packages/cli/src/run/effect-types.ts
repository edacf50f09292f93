/** The node types for files and programs, which flows load that have nodes of them. */
export { nodePack } from "@millrace/engine/node";
