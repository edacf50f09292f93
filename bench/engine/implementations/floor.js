// The floor: what a person writes by hand for one shape, making the same event objects as the engine.
import { body } from "../workloads.js";

function recorder() {
  const events = [];
  const node = (kind, i, output) => {
    const seq = events.length + 1;
    events.push(
      kind === "node.started"
        ? {
            v: 1,
            kind,
            runId: "floor",
            seq,
            ts: Date.now(),
            node: `n${i}`,
            attempt: 1,
            type: "bench.noop",
          }
        : {
            v: 1,
            kind,
            runId: "floor",
            seq,
            ts: Date.now(),
            node: `n${i}`,
            attempt: 1,
            output,
            durationMs: 0,
          },
    );
  };
  return { events, node };
}

async function step(record, state, i) {
  record.node("node.started", i);
  record.node("node.succeeded", i, await body(state, i));
}

const shapes = {
  async chain({ deps }, state) {
    const record = recorder();
    for (let i = 0; i < deps.length; i++) await step(record, state, i);
    return record.events;
  },
  async layers({ layers }, state) {
    const record = recorder();
    for (const layer of layers) await Promise.all(layer.map((i) => step(record, state, i)));
    return record.events;
  },
  async free({ deps }, state) {
    const record = recorder();
    const done = [];
    for (const [i, inputs] of deps.entries()) {
      done[i] =
        inputs.length === 0
          ? step(record, state, i)
          : Promise.all(inputs.map((d) => done[d])).then(() => step(record, state, i));
    }
    await Promise.all(done);
    return record.events;
  },
};

export function prepare(workload) {
  return (state) => shapes[workload.shape](workload, state);
}
