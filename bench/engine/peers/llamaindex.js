// @llamaindex/workflow-core: an event for each node that has ended; a handler that waits for several counts them itself.
import { createWorkflow, workflowEvent } from "@llamaindex/workflow-core";
import { body } from "../workloads.js";

export function prepare({ deps }) {
  const readers = deps.map(() => []);
  for (const [i, inputs] of deps.entries()) for (const d of inputs) readers[d].push(i);
  const start = workflowEvent();
  const end = workflowEvent();
  const ready = deps.map(() => workflowEvent());
  const roots = deps.flatMap((inputs, i) => (inputs.length === 0 ? [i] : []));
  const workflow = createWorkflow();
  workflow.handle([start], (context, { data }) => {
    for (const i of roots) context.sendEvent(ready[i].with(data));
  });
  for (const [i, event] of ready.entries()) {
    workflow.handle([event], async (context, { data }) => {
      await body(data.state, i);
      for (const to of readers[i]) {
        data.left[to] -= 1;
        if (data.left[to] === 0) context.sendEvent(ready[to].with(data));
      }
      data.open -= 1;
      if (data.open === 0) context.sendEvent(end.with());
    });
  }
  return async (state) => {
    const { stream, sendEvent } = workflow.createContext();
    const left = deps.map((inputs) => inputs.length);
    sendEvent(start.with({ state, left, open: deps.length }));
    await stream.until(end).toArray();
  };
}
