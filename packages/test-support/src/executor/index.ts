/** The suite of executors, and the chaos that one of them must survive. */
export { anyOf, TestCluster } from "./cluster.ts";
export { executorChaos } from "./executor-chaos.ts";
export { executorConformance } from "./executor-conformance.ts";
export {
  type ClusterGround,
  type ClusterKind,
  PROGRAMS_OF,
  type ServerWires,
  startClusterGround,
} from "./start-cluster.ts";
export { type NetworkGround, startNetworkGround } from "./start-network.ts";
