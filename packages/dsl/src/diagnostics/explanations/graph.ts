/** Explanations of the families 4 (graph), 5 (expressions), 6 (security) and 9 (style): code to why, wrong, right and form, see `Explanation`. */

export const GRAPH_EXPLANATIONS = {
  FLOW4001: [
    "An edge connects two nodes of the same body, and one of its ends is no node there.",
    "node fetch: join\nnode save: join\n\nfetch -> svae",
    "node fetch: join\nnode save: join\n\nfetch -> save",
  ],
  FLOW4002: [
    "A node leaves by the ports of its type, so an edge from another port would never be taken.",
    'node a: condition {\n  if = run.id != ""\n}\nnode b: join\n\na.yes -> b',
    'node a: condition {\n  if = run.id != ""\n}\nnode b: join\n\na.true -> b',
  ],
  FLOW4003: [
    "Each node of the cycle would wait for the others for ever; references count as edges, because a reader waits for what it reads.",
    "node a: join\nnode b: join\n\na -> b\nb -> a",
    "node a: join\nnode b: join\n\na -> b",
  ],
  FLOW4004: [
    "Every way to the node is closed before the run starts, so it is dead text or an edge is missing.",
    "node a: join {\n  @when = false\n}\nnode b: join\n\na -> b",
    "node a: join\nnode b: join\n\na -> b",
  ],
  FLOW4005: [
    "The node runs once for each round of its owner, so outside of the body there is no single value to read.",
    "node all: map {\n  items = [1]\n  body {\n    node one: transform {\n      value = item\n    }\n\n    output = one.value\n  }\n}\n\noutput last = one.value",
    "node all: map {\n  items = [1]\n  body {\n    node one: transform {\n      value = item\n    }\n\n    output = one.value\n  }\n}\n\noutput last = all.items",
  ],
  FLOW4006: [
    "A node that reads something skipped is skipped itself; with `?.` it runs, and reads null.",
    'node late: condition {\n  if = run.id != ""\n}\nnode mail: transform {\n  value = 1\n}\nnode note: transform {\n  value = mail.value\n}\n\nlate.true -> mail',
    'node late: condition {\n  if = run.id != ""\n}\nnode mail: transform {\n  value = 1\n}\nnode note: transform {\n  value = mail?.value\n}\n\nlate.true -> mail',
  ],
  FLOW4007: [
    "The expression can never have a value that fits here; nothing is converted silently.",
    "input n: int\n\nnode a: log {\n  message = inputs.n\n}",
    "input n: int\n\nnode a: log {\n  message = string(inputs.n)\n}",
  ],
  FLOW4008: [
    "A join waits for several branches; with fewer it waits for nothing, or for more than there are.",
    "node a: join\nnode b: join {\n  @join = 2\n}\n\na -> b",
    "node a: transform {\n  value = 1\n}\nnode b: transform {\n  value = 2\n}\nnode c: join {\n  @join = 2\n}\n\na -> c\nb -> c",
  ],
  FLOW4009: [
    "A value that matches no case leaves by `default`; without an edge there the flow goes no further that way, without a failure.",
    'input kind: string\n\nnode a: switch {\n  on = inputs.kind\n  cases = { bug: "bug" }\n}\nnode b: log {\n  message = "a bug"\n}\n\na.bug -> b',
    'input kind: string\n\nnode a: switch {\n  on = inputs.kind\n  cases = { bug: "bug" }\n}\nnode b: log {\n  message = "a bug"\n}\nnode c: log {\n  message = "none"\n}\n\na.bug -> b\na.default -> c',
  ],
  FLOW4010: [
    "A subflow is looked up by its id before the run, and a flow that calls itself would never end.",
    'node a: subflow {\n  flow = "no-such-flow"\n}',
    'node a: subflow {\n  flow = "load-rows"\n}',
  ],
  FLOW4011: [
    "Whoever starts the flow is asked for a value that changes nothing.",
    "input region: string",
    "input region: string\n\nnode a: log {\n  message = inputs.region\n}",
  ],
  FLOW4012: [
    "A body is run by its owner as a whole, so no edge can enter or leave it on its own.",
    "node start: join\nnode all: map {\n  items = [1]\n  body {\n    node one: join\n  }\n}\n\nstart -> one",
    "node start: join\nnode all: map {\n  items = [1]\n  body {\n    node one: join\n  }\n}\n\nstart -> all",
  ],
  FLOW4013: [
    "Ports are the exits of a node; it has one entrance, without a name.",
    "node a: join\nnode b: join\n\na -> b.out",
    "node a: join\nnode b: join\n\na -> b",
  ],
  FLOW4014: [
    "The edge says that errors leave by the port, the policy says something else.",
    'node a: file.read {\n  path = "a.txt"\n  @on-error = "fail"\n}\nnode b: join\n\na.error -> b',
    'node a: file.read {\n  path = "a.txt"\n}\nnode b: join\n\na.error -> b',
  ],
  FLOW4015: [
    "The output is left out of the result when its node does not run; with `?.` it is there and null.",
    'node a: transform {\n  value = 1\n  @when = run.id == ""\n}\n\noutput one = a.value',
    'node a: transform {\n  value = 1\n  @when = run.id == ""\n}\n\noutput one = a?.value',
  ],
  FLOW4016: [
    "A person may say no, or not answer in time; where no edge takes that answer, the run fails.",
    'node ask: confirm {\n  prompt = "Go on?"\n}\nnode go: log {\n  message = "on"\n}\n\nask.approved -> go',
    'node ask: confirm {\n  prompt = "Go on?"\n}\nnode go: log {\n  message = "on"\n}\nnode no: log {\n  message = "off"\n}\n\nask.approved -> go\nask.rejected -> no',
  ],
  FLOW4017: [
    "A condition lets the nodes behind its ports run or not; where no edge leaves `true` or `false`, its result is not used. An edge from `error` does not use it.",
    'input n: int\n\nnode many: condition {\n  if = inputs.n > 9\n}\nnode tell: log {\n  message = "many"\n}',
    'input n: int\n\nnode many: condition {\n  if = inputs.n > 9\n}\nnode tell: log {\n  message = "many"\n}\n\nmany.true -> tell',
  ],
  FLOW5001: [
    "The name is no input, node or local that can be read here, or the value has no such member.",
    "node a: transform {\n  value = input\n}",
    "node a: transform {\n  value = inputs\n}",
  ],
  FLOW5002: [
    "Operators take the types of the table in the guide and convert nothing; write the conversion that you mean, such as `string(x)`.",
    'node a: transform {\n  value = 1 + "1"\n}',
    "node a: transform {\n  value = 1 + 1\n}",
  ],
  FLOW5003: [
    "Functions are a fixed list, called by their bare names; values have no methods.",
    "node a: transform {\n  value = sizes([1])\n}",
    "node a: transform {\n  value = size([1])\n}",
  ],
  FLOW5004: [
    "The function has another number of parameters; the signature shows them, those with `?` may be left out.",
    "node a: transform {\n  value = size([1], 2)\n}",
    "node a: transform {\n  value = size([1])\n}",
  ],
  FLOW5005: [
    "Only true and false decide; there is no truth in numbers, strings or null.",
    "node a: transform {\n  value = size([1]) ? 1 : 2\n}",
    "node a: transform {\n  value = size([1]) > 0 ? 1 : 2\n}",
  ],
  FLOW5006: [
    "Null has no members and takes part in no arithmetic, so the run would fail when the value is absent.",
    "input n: int?\n\nnode a: transform {\n  value = inputs.n + 1\n}",
    "input n: int?\n\nnode a: transform {\n  value = (inputs.n ?? 0) + 1\n}",
  ],
  FLOW5007: [
    "An evaluation may take a bounded number of steps, and this one is sure to take more whatever the input.",
    "node a: transform {\n  value = range(1000000)\n}",
    "node a: transform {\n  value = range(1000)\n}",
  ],
  FLOW5008: [
    "A string that is nothing but one hole turns a number, list or object into text; mostly the value itself is meant.",
    'input n: int\n\nnode a: transform {\n  value = "${inputs.n}"\n}',
    "input n: int\n\nnode a: transform {\n  value = inputs.n\n}",
  ],
  FLOW5009: [
    "The macro gives each element a name for its third argument, so a name that nothing else has stands here.",
    "node a: transform {\n  value = map([1], 2, 3)\n}",
    "node a: transform {\n  value = map([1], n, n + 1)\n}",
  ],
  FLOW5010: [
    "Values of different types are never equal, so the comparison does not say anything.",
    'node a: transform {\n  value = size([1]) == "1"\n}',
    "node a: transform {\n  value = size([1]) == 1\n}",
  ],
  FLOW5011: [
    "A branch that is always or never taken is mostly a slip in the condition.",
    "node a: condition {\n  if = 1 < 2\n}",
    "input n: int\n\nnode a: condition {\n  if = inputs.n < 2\n}",
  ],
  FLOW5012: [
    "Other tools fill `{{ x }}`, `{x}` or `$x` in a text; here only `${x}` is filled, and the rest stays as it is.",
    'input n: int\n\noutput t = "{{ inputs.n }} of {inputs.n} or $inputs.n"',
    'input n: int\n\noutput t = "${inputs.n} of 10"',
  ],
  FLOW5013: [
    "A pattern, a time zone or a size that is written out can be checked before a run; this one would fail each time.",
    "output pages: any = chunk([1, 2, 3], 0)",
    "output pages: any = chunk([1, 2, 3], 2)",
  ],
  FLOW6001: [
    "A flow is stored, shared and shown; a secret in it is known to everyone who can read it and has to be replaced.",
    'node a: http.request {\n  url = "https://shop.example"\n  headers = { Authorization: "Bearer sk-example-0123456789abcdef" }\n}',
    'connection shop: oauth\n\nnode a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
  ],
  FLOW6002: [
    "Whoever wrote that text could make the command, the query, the page or the request do something else.",
    'node list: http.request {\n  url = "https://shop.example"\n}\nnode next: http.request {\n  url = list.body.next\n}',
    'node list: http.request {\n  url = "https://shop.example"\n}\nnode next: http.request {\n  url = "https://shop.example/items/${uriEncode(list.body.next)}"\n}',
  ],
  FLOW6003: [
    "Such a character makes text look different from what it is, which has been used to hide code in plain sight.",
    'node a: log {\n  message = "to \u202eeht"\n}',
    'node a: log {\n  message = "to the"\n}',
  ],
  FLOW6004: [
    "Anyone on the way can read and change what is sent without encryption.",
    'node a: http.request {\n  url = "http://shop.example"\n}',
    'node a: http.request {\n  url = "https://shop.example"\n}',
  ],
  FLOW6005: [
    "Whoever wrote that text chooses the file that is read or written, within what the file policy allows.",
    'node a: http.request {\n  url = "https://shop.example"\n}\nnode b: file.read {\n  path = "in/${a.body.name}"\n}',
    'node b: file.read {\n  path = "in/orders.json"\n}',
  ],
  FLOW6006: [
    "A text that the model reads can talk it into calling the tool, and what it destroys is gone; a person should agree first.",
    'node a: ai {\n  input = "tidy up"\n  tools = [{ ref: "action:http.request", with: { method: "DELETE" }, confirm: false }]\n}',
    'node a: ai {\n  input = "tidy up"\n  tools = [{ ref: "action:http.request", with: { method: "DELETE" }, confirm: true }]\n}',
  ],
  FLOW6007: [
    "The model trusts `system` most, so a text from outside could give it new orders there.",
    'node a: file.read {\n  path = "mail.txt"\n}\nnode b: ai {\n  system = a.content\n  input = "sum it up"\n}',
    'node a: file.read {\n  path = "mail.txt"\n}\nnode b: ai {\n  system = "sum it up"\n  input = a.content\n}',
  ],
  FLOW6008: [
    "Fields, outputs and logs of a run are kept; a header of a request is sent and never shown.",
    'node a: log {\n  message = "key ${secrets.shop}"\n}',
    'node a: http.request {\n  url = "https://shop.example"\n  headers = { authorization: "Bearer ${secrets.shop}" }\n}',
  ],
  FLOW9001: [
    "A flow without nodes does nothing.",
    "flow 1 empty",
    "flow 1 waits\n\nnode a: join",
    "whole",
  ],
  FLOW9002: [
    "One form for every text keeps differences small; `millrace fmt` writes it.",
    "flow 1 loose\nnode a: join",
    "flow 1 neat\n\nnode a: join\n",
    "whole",
  ],
  FLOW9003: [
    "A node waits for what it reads anyway, so the edge says nothing new.",
    "node a: transform {\n  value = 1\n}\n\nnode b: transform {\n  value = a.value\n}\n\na -> b",
    "node a: transform {\n  value = 1\n}\n\nnode b: transform {\n  value = a.value\n}",
  ],
  FLOW9004: [
    "A bare id reads better and needs no escapes in expressions.",
    'node "box 7": join',
    "node box-7: join",
  ],
  FLOW9005: [
    "Without a limit a service that never answers, or a condition that never comes true, holds the run.",
    'node a: http.request {\n  url = "https://shop.example"\n}',
    'node a: http.request {\n  url = "https://shop.example"\n  @timeout = 10s\n}',
  ],
} as const;
