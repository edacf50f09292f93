// xstate: a state for each layer; a layer of several nodes is a parallel state with a region for each.
import { createActor, fromPromise, setup, toPromise } from "xstate";
import { body } from "../workloads.js";

export function prepare({ layers }) {
  return async (state) => {
    const actors = { noop: fromPromise(({ input }) => body(state, input)) };
    const states = { end: { type: "final" } };
    for (const [at, layer] of layers.entries()) {
      const next = at + 1 < layers.length ? `l${at + 1}` : "end";
      states[`l${at}`] = layer.length === 1 ? single(layer[0], next) : parallel(layer, next);
    }
    const actor = createActor(setup({ actors }).createMachine({ initial: "l0", states }));
    const done = toPromise(actor);
    actor.start();
    await done;
  };
}

const single = (i, next) => ({ invoke: { src: "noop", input: i, onDone: next } });

function parallel(layer, next) {
  const regions = layer.map((i) => [
    `n${i}`,
    { initial: "busy", states: { busy: single(i, "done"), done: { type: "final" } } },
  ]);
  return { type: "parallel", states: Object.fromEntries(regions), onDone: next };
}
