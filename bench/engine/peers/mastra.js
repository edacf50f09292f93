// @mastra/core: a step for each node; layers of several go through `parallel`.
import { createStep, createWorkflow } from "@mastra/core/workflows";
import * as z from "zod";
import { body } from "../workloads.js";

const any = z.any();

export function prepare({ layers }) {
  const states = new Map(); // runs share the steps
  const step = (i) =>
    createStep({
      id: `n${i}`,
      inputSchema: any,
      outputSchema: any,
      execute: async ({ runId }) => {
        await body(states.get(runId), i);
        return {};
      },
    });
  let flow = createWorkflow({ id: "bench", inputSchema: any, outputSchema: any });
  for (const layer of layers) {
    flow = layer.length === 1 ? flow.then(step(layer[0])) : flow.parallel(layer.map(step));
  }
  flow.commit();
  return async (state) => {
    const run = await flow.createRunAsync();
    states.set(run.runId, state);
    const { status, error } = await run.start({ inputData: {} });
    states.delete(run.runId);
    if (status !== "success") throw new Error(`${status} ${error ?? ""}`);
  };
}
