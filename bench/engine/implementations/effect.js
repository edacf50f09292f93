// effect has no graph of its own: one Effect.all for each layer.
import { Effect } from "effect";
import { body } from "../workloads.js";

export function prepare({ layers }) {
  return (state) =>
    Effect.runPromise(
      Effect.gen(function* () {
        for (const layer of layers) {
          const steps = layer.map((i) => Effect.promise(() => body(state, i)));
          if (steps.length === 1) yield* steps[0];
          else yield* Effect.all(steps, { concurrency: "unbounded", discard: true });
        }
      }),
    );
}
