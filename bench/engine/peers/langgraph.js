// @langchain/langgraph: a node for each node; several inputs are one edge from their list, which waits for all of them.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { body } from "../workloads.js";

const State = Annotation.Root({});

export function prepare({ deps, layers }) {
  const graph = new StateGraph(State);
  for (let i = 0; i < deps.length; i++) {
    graph.addNode(`n${i}`, async (_values, { configurable }) => {
      await body(configurable.state, i);
      return {};
    });
  }
  const read = new Set(deps.flat());
  for (const [i, inputs] of deps.entries()) {
    if (inputs.length === 0) graph.addEdge(START, `n${i}`);
    else if (inputs.length === 1) graph.addEdge(`n${inputs[0]}`, `n${i}`);
    else
      graph.addEdge(
        inputs.map((d) => `n${d}`),
        `n${i}`,
      );
    if (!read.has(i)) graph.addEdge(`n${i}`, END);
  }
  const compiled = graph.compile();
  const recursionLimit = layers.length + 10;
  return (state) => compiled.invoke({}, { recursionLimit, configurable: { state } });
}
