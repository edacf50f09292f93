import { PGraph } from "p-graph";
import { body } from "../workloads.js";

export function prepare({ deps }) {
  const edges = deps.flatMap((inputs, i) => inputs.map((d) => [`n${d}`, `n${i}`]));
  return (state) => {
    const nodes = {};
    for (let i = 0; i < deps.length; i++) nodes[`n${i}`] = { run: () => body(state, i) };
    return new PGraph(nodes, edges).run();
  };
}
