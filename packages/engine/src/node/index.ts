export { createNodeHost, type NodeHost, type NodeHostOptions } from "./node-host.ts";
