// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Rules of the families 4 (graph) and 5 (expressions). */

export const GRAPH_RULES = {
  FLOW4001: {
    severity: "error",
    message: "edge names the unknown node {id}",
    hint: "did you mean {near}?",
  },
  FLOW4002: {
    severity: "error",
    message: "{node} ({type}) has no port {port}",
    hint: "ports: {list}",
  },
  FLOW4003: {
    severity: "error",
    message: "cycle: {path}",
    hint: "use a `loop` node",
  },
  FLOW4004: {
    severity: "warning",
    message: "{node} can never run: nothing leads to it that is live",
  },
  FLOW4005: {
    severity: "error",
    message: "{node} is not visible here: it lives in the body of {owner}",
    hint: "read `{owner}.items` or `.state`",
  },
  FLOW4006: {
    severity: "warning",
    message: "{node} may be skipped; then this node is skipped too",
    hint: "read it as `{node}?.…`",
  },
  FLOW4007: {
    severity: "error",
    message: "{place} takes {type}, {expression} is {found}",
  },
  FLOW4008: {
    severity: "warning",
    message: "join with fewer than two incoming edges",
  },
  FLOW4009: {
    severity: "info",
    message: "switch {node} has no edge on `default`: other values end here",
  },
  FLOW4010: {
    severity: "error",
    message: "flow {slug} does not exist",
  },
  FLOW4011: {
    severity: "warning",
    message: "input {name} is never read",
  },
  FLOW4012: {
    severity: "error",
    message: "edge goes into or out of a body",
    hint: "connect the owner node",
  },
  FLOW4013: {
    severity: "error",
    message: "an edge ends at a node, not at a port",
  },
  FLOW4014: {
    severity: "error",
    message: "an edge leaves {node}.error but @on-error is {value}",
  },
  FLOW4015: {
    severity: "warning",
    message: "flow output {name} is absent when {node} is skipped",
    hint: "read it as `{node}?.…`",
  },
  FLOW4016: {
    severity: "info",
    message: "confirm {node} has no edge on `{port}`",
    hint: "such an answer fails the run (`confirm_{port}`; exit code 4)",
  },
} as const;

export const EXPRESSION_RULES = {
  FLOW5001: {
    severity: "error",
    message: "unknown name {name}",
    hint: "did you mean {near}?",
  },
  FLOW5002: {
    severity: "error",
    message: "`{op}` takes {types}, found {found}",
  },
  FLOW5003: {
    severity: "error",
    message: "unknown function {name}",
    hint: "did you mean {near}?",
  },
  FLOW5004: {
    severity: "error",
    message: "{function} takes {n} arguments, found {m}: {signature}",
  },
  FLOW5005: {
    severity: "error",
    message: "{place} must be true or false, found {type}",
  },
  FLOW5006: {
    severity: "warning",
    message: "{expression} may be null here",
    hint: "use `?.` or `?? …`",
  },
  FLOW5007: {
    severity: "error",
    message: "this expression is sure to exceed the budget: {why}",
  },
  FLOW5008: {
    severity: "warning",
    message: '`"${{expression}}"` is always a string',
  },
  FLOW5009: {
    severity: "error",
    message: "the second argument of {macro} must be a new name",
  },
  FLOW5010: {
    severity: "warning",
    message: "comparing {a} with {b} is always {result}",
  },
  FLOW5011: {
    severity: "warning",
    message: "condition is always {result}",
  },
  FLOW5012: {
    severity: "warning",
    message: "`{found}` is plain text here",
    hint: "a value in text is written `{hole}`",
  },
} as const;
