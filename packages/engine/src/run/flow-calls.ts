/** Flows that a node runs as tools: in the run's own log, with slots of their own. */
import type { JsonObject } from "@millrace/contracts";
import type { BodyEnd, FlowCall } from "../node-type.ts";
import { openRound } from "./bodies.ts";
import { stopFrame } from "./end.ts";
import { RUNNING } from "./node-states.ts";
import { take } from "./slots.ts";
import type { Attempt } from "./state.ts";

/**
 * Starts a flow. Its node gives its slots back meanwhile, or nodes of its type could wait for each other for ever; afterwards
 * it takes them whether they are free or not.
 */
export function callFlow(
  attempt: Attempt,
  { ref, index, inputs }: { readonly ref: string; readonly index: number; inputs: JsonObject },
): FlowCall {
  const { run, frame: outer, node } = attempt;
  const layout = outer.layout.tools[node]?.flows.get(ref)?.layout;
  if (layout === undefined) throw new TypeError(`the node does not name the flow ${ref}`);
  let end: (end: BodyEnd) => void = () => undefined;
  const ended = new Promise<BodyEnd>((resolve) => {
    end = resolve;
  });
  attempt.extras.flows += 1;
  attempt.giveBack();
  const done = (how: BodyEnd) => {
    attempt.extras.flows -= 1;
    if (attempt.extras.flows === 0) takeBack(attempt);
    end(how);
  };
  let frame: ReturnType<typeof openRound>;
  try {
    frame = openRound(attempt, { layout, index, inputs, locals: null }, done);
  } catch (error) {
    done({ status: "cancelled" });
    throw error;
  }
  run.pump();
  return {
    end: ended,
    stop() {
      if (frame === null || frame.ended || attempt.over) return;
      run.tick();
      stopFrame(run, frame, "parent");
      run.pump();
    },
  };
}

function takeBack(attempt: Attempt): void {
  if (attempt.over || attempt.holds) return;
  if (attempt.frame.state(attempt.node) !== RUNNING) return;
  take(attempt.limits);
  attempt.holds = true;
}
