/** `RunOptions.only`: some nodes and what leads to them. The others stay out of the run and are skipped at its end. */
import type { Layout } from "../compile/layout.ts";
import { EngineError } from "../errors.ts";
import type { Frame } from "./frame.ts";
import { PENDING, SKIPPED } from "./node-states.ts";
import { skip } from "./propagate.ts";
import type { RunCore } from "./state.ts";

/** Which nodes run; null: all. Throws `input_invalid` for an id that the flow does not have. */
export function includedNodes(
  layout: Layout,
  only: readonly string[] | undefined,
): boolean[] | null {
  if (only === undefined) return null;
  const sources: number[][] = Array.from({ length: layout.size }, () => []);
  for (let from = 0; from < layout.size; from += 1) {
    for (let k = layout.outOff[from] as number; k < (layout.outOff[from + 1] as number); k += 1) {
      sources[layout.outTo[k] as number]?.push(from);
    }
  }
  const included = new Array<boolean>(layout.size).fill(false);
  const stack = only.map((id) => {
    const node = layout.index.get(id);
    if (node !== undefined) return node;
    throw new EngineError("input_invalid", `options.only names the unknown node "${id}"`);
  });
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (included[node] === true) continue;
    included[node] = true;
    stack.push(...(sources[node] ?? []));
  }
  return included;
}

/** Takes the nodes out that do not run: nothing decides them, and the frame does not wait for them. */
export function exclude(frame: Frame, included: readonly boolean[] | null): void {
  if (included === null) return;
  frame.excluded = [];
  for (let node = 0; node < frame.layout.size; node += 1) {
    if (included[node] === true) continue;
    frame.setState(node, SKIPPED);
    frame.excluded.push(node);
    frame.open -= 1;
  }
}

/** Says at the end of the run that they were skipped. */
export function skipExcluded(run: RunCore): void {
  const top = run.frames[0] as Frame;
  const nodes = top.excluded;
  top.excluded = [];
  for (const node of nodes) {
    top.setState(node, PENDING);
    skip(run, top, node, "run_ended");
  }
  run.endedSize = 0;
}
