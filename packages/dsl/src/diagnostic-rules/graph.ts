// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Rules of the families 4 (graph) and 5 (expressions). */

export const GRAPH_RULES = {
  FLOW4001: {
    severity: "error",
    message: "edge names the unknown node {id}",
    hint: "did you mean {near}?",
    wrong: "node fetch: join\nnode save: join\n\nfetch -> svae",
    right: "node fetch: join\nnode save: join\n\nfetch -> save",
  },
  FLOW4002: {
    severity: "error",
    message: "{node} ({type}) has no port {port}",
    hint: "ports: {list}",
    wrong: 'node a: condition {\n  if = run.id != ""\n}\nnode b: join\n\na.yes -> b',
    right: 'node a: condition {\n  if = run.id != ""\n}\nnode b: join\n\na.true -> b',
  },
  FLOW4003: {
    severity: "error",
    message: "cycle: {path}",
    hint: "use a `loop` node",
    wrong: "node a: join\nnode b: join\n\na -> b\nb -> a",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW4004: {
    severity: "warning",
    message: "{node} can never run: nothing leads to it that is live",
    wrong: "node a: join {\n  @when = false\n}\nnode b: join\n\na -> b",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW4005: {
    severity: "error",
    message: "{node} is not visible here: it lives in the body of {owner}",
    hint: "read `{owner}.items` or `.state`",
    wrong:
      "node all: map {\n  items = [1]\n  body {\n    node one: transform {\n      value = item\n    }\n\n    output = one.value\n  }\n}\n\noutput last = one.value",
    right:
      "node all: map {\n  items = [1]\n  body {\n    node one: transform {\n      value = item\n    }\n\n    output = one.value\n  }\n}\n\noutput last = all.items",
  },
  FLOW4006: {
    severity: "warning",
    message: "{node} may be skipped; then this node is skipped too",
    hint: "read it as `{node}?.…`",
    wrong:
      'node late: condition {\n  if = run.id != ""\n}\nnode mail: transform {\n  value = 1\n}\nnode note: transform {\n  value = mail.value\n}\n\nlate.true -> mail',
    right:
      'node late: condition {\n  if = run.id != ""\n}\nnode mail: transform {\n  value = 1\n}\nnode note: transform {\n  value = mail?.value\n}\n\nlate.true -> mail',
  },
  FLOW4007: {
    severity: "error",
    message: "{place} takes {type}, {expression} is {found}",
    wrong: "input n: int\n\nnode a: log {\n  message = inputs.n\n}",
    right: "input n: int\n\nnode a: log {\n  message = string(inputs.n)\n}",
  },
  FLOW4008: {
    severity: "warning",
    message: "join with fewer than two incoming edges",
    wrong: "node a: join\nnode b: join {\n  @join = 2\n}\n\na -> b",
    right:
      "node a: transform {\n  value = 1\n}\nnode b: transform {\n  value = 2\n}\nnode c: join {\n  @join = 2\n}\n\na -> c\nb -> c",
  },
  FLOW4009: {
    severity: "info",
    message: "switch {node} has no edge on `default`: other values end here",
    wrong:
      'input kind: string\n\nnode a: switch {\n  on = inputs.kind\n  cases = { bug: "bug" }\n}\nnode b: log {\n  message = "a bug"\n}\n\na.bug -> b',
    right:
      'input kind: string\n\nnode a: switch {\n  on = inputs.kind\n  cases = { bug: "bug" }\n}\nnode b: log {\n  message = "a bug"\n}\nnode c: log {\n  message = "none"\n}\n\na.bug -> b\na.default -> c',
  },
  FLOW4010: {
    severity: "error",
    message: "flow {slug} does not exist",
    wrong: 'node a: subflow {\n  flow = "no-such-flow"\n}',
    right: 'node a: subflow {\n  flow = "load-rows"\n}',
  },
  FLOW4011: {
    severity: "warning",
    message: "input {name} is never read",
    wrong: "input region: string",
    right: "input region: string\n\nnode a: log {\n  message = inputs.region\n}",
  },
  FLOW4012: {
    severity: "error",
    message: "edge goes into or out of a body",
    hint: "connect the owner node",
    wrong:
      "node start: join\nnode all: map {\n  items = [1]\n  body {\n    node one: join\n  }\n}\n\nstart -> one",
    right:
      "node start: join\nnode all: map {\n  items = [1]\n  body {\n    node one: join\n  }\n}\n\nstart -> all",
  },
  FLOW4013: {
    severity: "error",
    message: "an edge ends at a node, not at a port",
    wrong: "node a: join\nnode b: join\n\na -> b.out",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW4014: {
    severity: "error",
    message: "an edge leaves {node}.error but @on-error is {value}",
    wrong:
      'node a: file.read {\n  path = "a.txt"\n  @on-error = "fail"\n}\nnode b: join\n\na.error -> b',
    right: 'node a: file.read {\n  path = "a.txt"\n}\nnode b: join\n\na.error -> b',
  },
  FLOW4015: {
    severity: "warning",
    message: "flow output {name} is absent when {node} is skipped",
    hint: "read it as `{node}?.…`",
    wrong: 'node a: transform {\n  value = 1\n  @when = run.id == ""\n}\n\noutput one = a.value',
    right: 'node a: transform {\n  value = 1\n  @when = run.id == ""\n}\n\noutput one = a?.value',
  },
  FLOW4016: {
    severity: "info",
    message: "confirm {node} has no edge on `{port}`",
    hint: "such an answer fails the run (`confirm_{port}`; exit code 4)",
    wrong:
      'node ask: confirm {\n  prompt = "Go on?"\n}\nnode go: log {\n  message = "on"\n}\n\nask.approved -> go',
    right:
      'node ask: confirm {\n  prompt = "Go on?"\n}\nnode go: log {\n  message = "on"\n}\nnode no: log {\n  message = "off"\n}\n\nask.approved -> go\nask.rejected -> no',
  },
} as const;

export const EXPRESSION_RULES = {
  FLOW5001: {
    severity: "error",
    message: "unknown name {name}",
    hint: "did you mean {near}?",
    wrong: "node a: transform {\n  value = input\n}",
    right: "node a: transform {\n  value = inputs\n}",
  },
  FLOW5002: {
    severity: "error",
    message: "`{op}` takes {types}, found {found}",
    wrong: 'node a: transform {\n  value = 1 + "1"\n}',
    right: "node a: transform {\n  value = 1 + 1\n}",
  },
  FLOW5003: {
    severity: "error",
    message: "unknown function {name}",
    hint: "did you mean {near}?",
    wrong: "node a: transform {\n  value = sizes([1])\n}",
    right: "node a: transform {\n  value = size([1])\n}",
  },
  FLOW5004: {
    severity: "error",
    message: "{function} takes {n} arguments, found {m}: {signature}",
    wrong: "node a: transform {\n  value = size([1], 2)\n}",
    right: "node a: transform {\n  value = size([1])\n}",
  },
  FLOW5005: {
    severity: "error",
    message: "{place} must be true or false, found {type}",
    wrong: "node a: transform {\n  value = size([1]) ? 1 : 2\n}",
    right: "node a: transform {\n  value = size([1]) > 0 ? 1 : 2\n}",
  },
  FLOW5006: {
    severity: "warning",
    message: "{expression} may be null here",
    hint: "use `?.` or `?? …`",
    wrong: "input n: int?\n\nnode a: transform {\n  value = inputs.n + 1\n}",
    right: "input n: int?\n\nnode a: transform {\n  value = (inputs.n ?? 0) + 1\n}",
  },
  FLOW5007: {
    severity: "error",
    message: "this expression is sure to exceed the budget: {why}",
    wrong: "node a: transform {\n  value = range(1000000)\n}",
    right: "node a: transform {\n  value = range(1000)\n}",
  },
  FLOW5008: {
    severity: "warning",
    message: '`"${{expression}}"` is always a string',
    wrong: 'input n: int\n\nnode a: transform {\n  value = "${inputs.n}"\n}',
    right: "input n: int\n\nnode a: transform {\n  value = inputs.n\n}",
  },
  FLOW5009: {
    severity: "error",
    message: "the second argument of {macro} must be a new name",
    wrong: "node a: transform {\n  value = map([1], 2, 3)\n}",
    right: "node a: transform {\n  value = map([1], n, n + 1)\n}",
  },
  FLOW5010: {
    severity: "warning",
    message: "comparing {a} with {b} is always {result}",
    wrong: 'node a: transform {\n  value = size([1]) == "1"\n}',
    right: "node a: transform {\n  value = size([1]) == 1\n}",
  },
  FLOW5011: {
    severity: "warning",
    message: "condition is always {result}",
    wrong: "node a: condition {\n  if = 1 < 2\n}",
    right: "input n: int\n\nnode a: condition {\n  if = inputs.n < 2\n}",
  },
} as const;
