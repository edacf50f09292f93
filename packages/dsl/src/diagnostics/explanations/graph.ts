// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Explanations of the families 4 (graph) and 5 (expressions). */

export const GRAPH_EXPLANATIONS = {
  FLOW4001: {
    why: "An edge connects two nodes of the same body, and one of its ends is no node there.",
    wrong: "node fetch: join\nnode save: join\n\nfetch -> svae",
    right: "node fetch: join\nnode save: join\n\nfetch -> save",
  },
  FLOW4002: {
    why: "A node leaves by the ports of its type, so an edge from another port would never be taken.",
    wrong: 'node a: condition {\n  if = run.id != ""\n}\nnode b: join\n\na.yes -> b',
    right: 'node a: condition {\n  if = run.id != ""\n}\nnode b: join\n\na.true -> b',
  },
  FLOW4003: {
    why: "Each node of the cycle would wait for the others for ever; references count as edges, because a reader waits for what it reads.",
    wrong: "node a: join\nnode b: join\n\na -> b\nb -> a",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW4004: {
    why: "Every way to the node is closed before the run starts, so it is dead text or an edge is missing.",
    wrong: "node a: join {\n  @when = false\n}\nnode b: join\n\na -> b",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW4005: {
    why: "The node runs once for each round of its owner, so outside of the body there is no single value to read.",
    wrong:
      "node all: map {\n  items = [1]\n  body {\n    node one: transform {\n      value = item\n    }\n\n    output = one.value\n  }\n}\n\noutput last = one.value",
    right:
      "node all: map {\n  items = [1]\n  body {\n    node one: transform {\n      value = item\n    }\n\n    output = one.value\n  }\n}\n\noutput last = all.items",
  },
  FLOW4006: {
    why: "A node that reads something skipped is skipped itself; with `?.` it runs, and reads null.",
    wrong:
      'node late: condition {\n  if = run.id != ""\n}\nnode mail: transform {\n  value = 1\n}\nnode note: transform {\n  value = mail.value\n}\n\nlate.true -> mail',
    right:
      'node late: condition {\n  if = run.id != ""\n}\nnode mail: transform {\n  value = 1\n}\nnode note: transform {\n  value = mail?.value\n}\n\nlate.true -> mail',
  },
  FLOW4007: {
    why: "The expression can never have a value that fits here; nothing is converted silently.",
    wrong: "input n: int\n\nnode a: log {\n  message = inputs.n\n}",
    right: "input n: int\n\nnode a: log {\n  message = string(inputs.n)\n}",
  },
  FLOW4008: {
    why: "A join waits for several branches; with fewer it waits for nothing, or for more than there are.",
    wrong: "node a: join\nnode b: join {\n  @join = 2\n}\n\na -> b",
    right:
      "node a: transform {\n  value = 1\n}\nnode b: transform {\n  value = 2\n}\nnode c: join {\n  @join = 2\n}\n\na -> c\nb -> c",
  },
  FLOW4009: {
    why: "A value that matches no case leaves by `default`; without an edge there the flow goes no further that way, without a failure.",
    wrong:
      'input kind: string\n\nnode a: switch {\n  on = inputs.kind\n  cases = { bug: "bug" }\n}\nnode b: log {\n  message = "a bug"\n}\n\na.bug -> b',
    right:
      'input kind: string\n\nnode a: switch {\n  on = inputs.kind\n  cases = { bug: "bug" }\n}\nnode b: log {\n  message = "a bug"\n}\nnode c: log {\n  message = "none"\n}\n\na.bug -> b\na.default -> c',
  },
  FLOW4010: {
    why: "A subflow is looked up by its id before the run, and a flow that calls itself would never end.",
    wrong: 'node a: subflow {\n  flow = "no-such-flow"\n}',
    right: 'node a: subflow {\n  flow = "load-rows"\n}',
  },
  FLOW4011: {
    why: "Whoever starts the flow is asked for a value that changes nothing.",
    wrong: "input region: string",
    right: "input region: string\n\nnode a: log {\n  message = inputs.region\n}",
  },
  FLOW4012: {
    why: "A body is run by its owner as a whole, so no edge can enter or leave it on its own.",
    wrong:
      "node start: join\nnode all: map {\n  items = [1]\n  body {\n    node one: join\n  }\n}\n\nstart -> one",
    right:
      "node start: join\nnode all: map {\n  items = [1]\n  body {\n    node one: join\n  }\n}\n\nstart -> all",
  },
  FLOW4013: {
    why: "Ports are the exits of a node; it has one entrance, without a name.",
    wrong: "node a: join\nnode b: join\n\na -> b.out",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW4014: {
    why: "The edge says that errors leave by the port, the policy says something else.",
    wrong:
      'node a: file.read {\n  path = "a.txt"\n  @on-error = "fail"\n}\nnode b: join\n\na.error -> b',
    right: 'node a: file.read {\n  path = "a.txt"\n}\nnode b: join\n\na.error -> b',
  },
  FLOW4015: {
    why: "The output is left out of the result when its node does not run; with `?.` it is there and null.",
    wrong: 'node a: transform {\n  value = 1\n  @when = run.id == ""\n}\n\noutput one = a.value',
    right: 'node a: transform {\n  value = 1\n  @when = run.id == ""\n}\n\noutput one = a?.value',
  },
  FLOW4016: {
    why: "A person may say no, or not answer in time; where no edge takes that answer, the run fails.",
    wrong:
      'node ask: confirm {\n  prompt = "Go on?"\n}\nnode go: log {\n  message = "on"\n}\n\nask.approved -> go',
    right:
      'node ask: confirm {\n  prompt = "Go on?"\n}\nnode go: log {\n  message = "on"\n}\nnode no: log {\n  message = "off"\n}\n\nask.approved -> go\nask.rejected -> no',
  },
  FLOW5001: {
    why: "The name is no input, node or local that can be read here, or the value has no such member.",
    wrong: "node a: transform {\n  value = input\n}",
    right: "node a: transform {\n  value = inputs\n}",
  },
  FLOW5002: {
    why: "Operators take the types of the table in the guide and convert nothing; write the conversion that you mean, such as `string(x)`.",
    wrong: 'node a: transform {\n  value = 1 + "1"\n}',
    right: "node a: transform {\n  value = 1 + 1\n}",
  },
  FLOW5003: {
    why: "Functions are a fixed list, called by their bare names; values have no methods.",
    wrong: "node a: transform {\n  value = sizes([1])\n}",
    right: "node a: transform {\n  value = size([1])\n}",
  },
  FLOW5004: {
    why: "The function has another number of parameters; the signature shows them, those with `?` may be left out.",
    wrong: "node a: transform {\n  value = size([1], 2)\n}",
    right: "node a: transform {\n  value = size([1])\n}",
  },
  FLOW5005: {
    why: "Only true and false decide; there is no truth in numbers, strings or null.",
    wrong: "node a: transform {\n  value = size([1]) ? 1 : 2\n}",
    right: "node a: transform {\n  value = size([1]) > 0 ? 1 : 2\n}",
  },
  FLOW5006: {
    why: "Null has no members and takes part in no arithmetic, so the run would fail when the value is absent.",
    wrong: "input n: int?\n\nnode a: transform {\n  value = inputs.n + 1\n}",
    right: "input n: int?\n\nnode a: transform {\n  value = (inputs.n ?? 0) + 1\n}",
  },
  FLOW5007: {
    why: "An evaluation may take a bounded number of steps, and this one is sure to take more whatever the input.",
    wrong: "node a: transform {\n  value = range(1000000)\n}",
    right: "node a: transform {\n  value = range(1000)\n}",
  },
  FLOW5008: {
    why: "A string that is nothing but one hole turns a number, list or object into text; mostly the value itself is meant.",
    wrong: 'input n: int\n\nnode a: transform {\n  value = "${inputs.n}"\n}',
    right: "input n: int\n\nnode a: transform {\n  value = inputs.n\n}",
  },
  FLOW5009: {
    why: "The macro gives each element a name for its third argument, so a name that nothing else has stands here.",
    wrong: "node a: transform {\n  value = map([1], 2, 3)\n}",
    right: "node a: transform {\n  value = map([1], n, n + 1)\n}",
  },
  FLOW5010: {
    why: "Values of different types are never equal, so the comparison does not say anything.",
    wrong: 'node a: transform {\n  value = size([1]) == "1"\n}',
    right: "node a: transform {\n  value = size([1]) == 1\n}",
  },
  FLOW5011: {
    why: "A branch that is always or never taken is mostly a slip in the condition.",
    wrong: "node a: condition {\n  if = 1 < 2\n}",
    right: "input n: int\n\nnode a: condition {\n  if = inputs.n < 2\n}",
  },
  FLOW5012: {
    why: "Other tools fill `{{ x }}`, `{x}` or `$x` in a text; here only `${x}` is filled, and the rest stays as it is.",
    wrong: 'input n: int\n\noutput t = "{{ inputs.n }} of {inputs.n} or $inputs.n"',
    right: 'input n: int\n\noutput t = "${inputs.n} of 10"',
  },
} as const;
