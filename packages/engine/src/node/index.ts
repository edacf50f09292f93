export { createEgressCheck, type EgressCheck, type Target } from "./egress/egress-check.ts";
export {
  createNodeHost,
  type EgressResolver,
  type NodeHost,
  type NodeHostOptions,
} from "./node-host.ts";
export { nodePack } from "./nodes/index.ts";
