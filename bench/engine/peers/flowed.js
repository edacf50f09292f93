// flowed: one task a node, wired by the names of what tasks provide and require.
import { FlowManager } from "flowed";
import { body } from "../workloads.js";

export function prepare({ deps }) {
  const tasks = Object.fromEntries(
    deps.map((inputs, i) => [
      `n${i}`,
      {
        requires: inputs.map((d) => `v${d}`),
        provides: [`v${i}`],
        resolver: { name: "noop", params: { i: { value: i } }, results: { value: `v${i}` } },
      },
    ]),
  );
  return (state) => {
    class Noop {
      async exec({ i }) {
        await body(state, i);
        return { value: 1 };
      }
    }
    return FlowManager.run({ tasks }, {}, [], { noop: Noop });
  };
}
