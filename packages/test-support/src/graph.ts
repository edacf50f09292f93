/** Graphs of tests, and a flow to draw. */
import type { FlowGraph } from "@millrace/contracts";

/** A graph of these parts; what is not given is empty, and its id `g`. */
export function graphWith(parts: Partial<FlowGraph>): FlowGraph {
  const none = { inputs: [], edges: [], outputs: [], connections: [], schedules: [], layout: {} };
  return { version: 1, id: "g", nodes: [], ...none, ...parts };
}

/** A flow with ports, a body and a reference, for pictures. */
export const ROUTES = `flow 1 routes {
  title = "Routes & <more>"
}

input n: number = 1

node size: condition {
  when = inputs.n > 10
}

node big: log {
  message = "big"
}

node small: log {
  message = "small"
}

node pages: map {
  items = [1, 2]
  body {
    node one: transform {
      value = item
    }
  }
}

node last: transform {
  value = pages.items
}

size.true -> big
size.false -> small
`;
