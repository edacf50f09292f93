// @ironclad/rivet-core: a node type of a plugin, and a connection for each edge.
import { coreCreateProcessor, globalRivetNodeRegistry } from "@ironclad/rivet-core";
import { body } from "../workloads.js";

const TYPE = "benchNoop";

const impl = {
  create: () => ({ id: "", type: TYPE, title: "No-op", data: {}, visualData: { x: 0, y: 0 } }),
  getUIData: () => ({}),
  getEditors: () => [],
  getBody: () => "",
  getInputDefinitions: ({ inputs }) =>
    inputs.map((_, k) => ({ id: `in${k}`, title: `in${k}`, dataType: "any" })),
  getOutputDefinitions: () => [{ id: "out", title: "out", dataType: "any" }],
  async process({ i }, _inputs, { contextValues }) {
    await body(contextValues.state.value, i);
    return { out: { type: "any", value: 1 } };
  },
};
globalRivetNodeRegistry.registerPluginNode({ impl, displayName: "No-op" }, { id: "bench" });

export function prepare({ deps }) {
  const nodes = deps.map((inputs, i) => ({
    ...impl.create(),
    id: `n${i}`,
    data: { i, inputs },
  }));
  const connections = deps.flatMap((inputs, i) =>
    inputs.map((d, k) => ({
      outputNodeId: `n${d}`,
      outputId: "out",
      inputNodeId: `n${i}`,
      inputId: `in${k}`,
    })),
  );
  const graph = { metadata: { id: "g", name: "bench" }, nodes, connections };
  const project = {
    metadata: { id: "p", title: "bench", description: "", mainGraphId: "g" },
    graphs: { g: graph },
    plugins: [],
  };
  return (state) =>
    coreCreateProcessor(project, {
      graph: "g",
      context: { state: { type: "any", value: state } },
    }).run();
}
