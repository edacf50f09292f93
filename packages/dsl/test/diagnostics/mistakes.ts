// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** What people and models write first, and what they meant; `undefined`: a message says what to do, but no edit can. */

type Mistake = readonly [what: string, wrong: string, right: string | undefined];

const flow = (text: string): string => `flow 1 x\n\n${text}`;
const node = (id: string, type: string, ...lines: string[]): string =>
  `node ${id}: ${type} {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;
const value = (text: string): string =>
  flow(`${INPUTS}\n${node("b", "transform", `value = ${text}`)}`);

const INPUTS = `input name: string
input n: int
input xs: int[]
input base: { a: int, b: int? }

output used: any = [inputs.name, inputs.n, inputs.xs, inputs.base, a]

${node("a", "transform", 'value = "v"')}`;

const expression = (what: string, wrong: string, right?: string): Mistake => [
  what,
  value(wrong),
  right === undefined ? undefined : value(right),
];

const get = (...lines: string[]): string =>
  flow(node("a", "http.request", 'url = "https://rates.example"', ...lines));

const typed = (wrong: string, right: string, ...lines: string[]): Mistake => [
  `type ${wrong}`,
  flow(node("a", wrong, ...lines)),
  flow(node("a", right, ...lines)),
];

const item = (what: string, wrong: string, right?: string): Mistake => [
  what,
  flow(wrong),
  right === undefined ? undefined : flow(right),
];

const SHOP = 'connection shop: oauth {\n  service = "shop"\n}\n\n';

const MODEL = ['provider = "mock"', 'modelId = "echo"', 'input = "x"'];

const JOINS = ["a", "b", "c", "d", "e"].map((id) => `node ${id}: join\n\n`).join("");

export const MISTAKES: readonly Mistake[] = [
  // Names.
  expression("an input by its bare name", '"Hi ${name}"', '"Hi ${inputs.name}"'),
  expression("input for inputs", "input.name", "inputs.name"),
  expression("a name with a minus", "inputs.n-1", "inputs.n - 1"),
  expression("a bare input with a minus", "n-1", "inputs.n - 1"),
  expression("a step under steps", "steps.a.value", "a.value"),
  expression("a result under output", "a.output.value", "a.value"),
  expression("a misspelt member", "a.vlaue", "a.value"),
  expression("the previous step of n8n", "$json.value"),
  expression("a dollar in front", "$inputs.name", "inputs.name"),
  expression("a member of run that is not there", "run.trigger"),
  expression("an environment", "env.KEY"),
  // Functions and methods.
  expression("a method", "inputs.name.toUpperCase()", "upper(inputs.name)"),
  expression("a method of methods", "inputs.name.trim().toLowerCase()", "lower(trim(inputs.name))"),
  expression(
    "a method with an argument",
    'inputs.name.includes("a")',
    'contains(inputs.name, "a")',
  ),
  expression("a member length", "inputs.xs.length", "size(inputs.xs)"),
  expression("the length of text", "inputs.name.length", "size(inputs.name)"),
  expression("len", "len(inputs.xs)", "size(inputs.xs)"),
  expression("length", "length(inputs.xs)", "size(inputs.xs)"),
  expression("map with an arrow", "inputs.xs.map(x => x * 2)", "map(inputs.xs, x, x * 2)"),
  expression(
    "filter with an arrow in parentheses",
    "inputs.xs.filter((x) => x > 1)",
    "filter(inputs.xs, x, x > 1)",
  ),
  expression(
    "a chain of arrows",
    "inputs.xs.filter(x => x > 1).map(x => x + 1)",
    "map(filter(inputs.xs, x, x > 1), x, x + 1)",
  ),
  expression("an arrow in a call", "map(inputs.xs, x => x * 2)", "map(inputs.xs, x, x * 2)"),
  expression(
    "a pattern of another language",
    'regex(inputs.name, "^a")',
    'matches(inputs.name, "^a")',
  ),
  expression("JSON.stringify", "JSON.stringify(inputs.xs)", "json(inputs.xs)"),
  expression("Object.keys", "Object.keys(inputs.base)", "keys(inputs.base)"),
  expression("Math.max", "Math.max(inputs.n, 1)", "max(inputs.n, 1)"),
  expression("parseInt", "parseInt(inputs.name)", "int(inputs.name)"),
  expression("str", "str(inputs.n)", "string(inputs.n)"),
  // Operators and values.
  expression("text and a number", '"n: " + inputs.n', '"n: ${inputs.n}"'),
  expression("text, a number and text", '"n: " + inputs.n + "!"', '"n: ${inputs.n}!"'),
  expression("an object spread", "{ ...inputs.base, b: 1 }", "merge(inputs.base, { b: 1 })"),
  expression("a list spread", "[...inputs.xs, 1]", "inputs.xs + [1]"),
  expression("a slice", "inputs.xs[0:3]", "slice(inputs.xs, 0, 3)"),
  expression("a slice from the start", "inputs.xs[:3]", "slice(inputs.xs, 0, 3)"),
  expression("a slice to the end", "inputs.name[1:]", "slice(inputs.name, 1)"),
  expression("the last element", "inputs.xs[-1]", "last(inputs.xs)"),
  expression("three equals signs", "inputs.n === 1", "inputs.n == 1"),
  expression(
    "words for operators",
    "not (inputs.n > 1 and inputs.n < 3)",
    "!(inputs.n > 1 && inputs.n < 3)",
  ),
  expression("words of Python", "[True, None]", "[true, null]"),
  expression("single quotes", "'hi'", '"hi"'),
  expression("backticks", "`Hi ${inputs.name}`", '"Hi ${inputs.name}"'),
  expression("a needless hole", "${inputs.n}", "inputs.n"),
  expression("a hole of handlebars", '"Hi {{ inputs.name }}"', '"Hi ${inputs.name}"'),
  expression("an input in a hole of handlebars", '"Hi {{name}}"', '"Hi ${inputs.name}"'),
  expression("a hole of GitHub", '"Hi ${{ inputs.name }}"', '"Hi ${inputs.name}"'),
  expression("a needless hole of GitHub", "${{ inputs.n }}", "inputs.n"),
  item("a list of other languages", "output t: list<int> = [1]\n", "output t: int[] = [1]\n"),
  item("a list of lists", "output t: Array<list<str>> = []\n", "output t: string[][] = []\n"),
  item("a policy above its node", `@retry = { max: 3 }\n${node("a", "delay", "for = 5s")}`),
  item(
    "a connection with another name",
    `connection shop: oauth {\n  service = "shop"\n}\n\n${node("a", "service.call", 'connection = "shpo"', 'operation = "list"')}`,
    `connection shop: oauth {\n  service = "shop"\n}\n\n${node("a", "service.call", 'connection = "shop"', 'operation = "list"')}`,
  ),
  // Types of other tools.
  typed("http", "http.request", 'url = "https://rates.example"'),
  typed("if", "condition", "if = size(run.id) > 1"),
  typed("approval", "confirm", 'prompt = "Pay?"'),
  typed("shell", "shell.exec", 'program = "git"'),
  typed("llm", "ai", 'input = "hi"'),
  typed("set", "transform", "value = 1"),
  typed("wait", "delay", "for = 5s"),
  [
    "type foreach",
    flow("node a: foreach {\n  items = [1]\n  body {\n    output = item\n  }\n}\n"),
    flow("node a: map {\n  items = [1]\n  body {\n    output = item\n  }\n}\n"),
  ],
  ["type code", flow(node("a", "code", "source = 1")), undefined],
  ["type email", flow(node("a", "email", 'to = "a"')), undefined],
  ["type cron", flow(node("a", "cron", 'at = "a"')), undefined],
  typed("htpp.request", "http.request", 'url = "https://rates.example"'),
  // Fields and policies.
  ["a retry field", get("retry = { max: 3 }"), get("@retry = { max: 3 }")],
  ["a timeout field", get("timeout = 5s"), get("@timeout = 5s")],
  ["a retry that is a number", get("@retry = 3"), get("@retry = { max: 3 }")],
  ["attempts", get("@retry = { attempts: 3 }"), get("@retry = { max: 3 }")],
  ["onError", get('@onError = "port"'), get('@on-error = "port"')],
  ["a timeout without unit", get("@timeout = 5000"), get("@timeout = 5s")],
  ["a header", get('header = { accept: "*/*" }'), get('headers = { accept: "*/*" }')],
  ["a method in lower case", get('method = "get"'), get('method = "GET"')],
  ["uri for url", flow(node("a", "http.request", 'uri = "https://rates.example"')), get()],
  [
    "a duration in quotes",
    flow(node("a", "delay", 'for = "5s"')),
    flow(node("a", "delay", "for = 5s")),
  ],
  [
    "an object as content",
    flow(node("a", "file.write", 'path = "a.json"', "content = { a: 1 }")),
    flow(node("a", "file.write", 'path = "a.json"', "content = json({ a: 1 })")),
  ],
  [
    "overwrite",
    flow(node("a", "file.write", 'path = "a"', 'content = "b"', 'mode = "overwrite"')),
    flow(node("a", "file.write", 'path = "a"', 'content = "b"', 'mode = "replace"')),
  ],
  [
    "prompt of an ai node",
    flow(node("a", "ai", 'prompt = "hi"')),
    flow(node("a", "ai", 'input = "hi"')),
  ],
  [
    "a service of a call",
    flow(
      `connection shop: oauth {\n  service = "shop"\n}\n\n${node("a", "service.call", 'service = "shop"', 'operation = "list"')}`,
    ),
    flow(
      `connection shop: oauth {\n  service = "shop"\n}\n\n${node("a", "service.call", 'connection = "shop"', 'operation = "list"')}`,
    ),
  ],
  ["an order as a field", get('depends_on = ["b"]'), undefined],
  ["a colon for a field", get('method: "GET"'), get('method = "GET"')],
  [
    "a connection by its bare name",
    flow(`${SHOP}${node("a", "service.call", "connection = shop", 'operation = "list"')}`),
    flow(`${SHOP}${node("a", "service.call", 'connection = "shop"', 'operation = "list"')}`),
  ],
  item(
    "labels as texts",
    `${node("a", "ai", ...MODEL, 'labels = ["bug", "idea"]')}\nnode b: join\n\na.bug -> b\n`,
    `${node("a", "ai", ...MODEL, 'labels = [{ name: "bug" }, { name: "idea" }]')}\nnode b: join\n\na.bug -> b\n`,
  ),
  item("a delay in seconds", node("a", "delay", "seconds = 5"), node("a", "delay", "for = 5s")),
  item(
    "a field of a transform by its own name",
    node("a", "transform", "total = 1 + 1"),
    node("a", "transform", "value = 1 + 1"),
  ),
  // Blocks and texts.
  item("a policy above its node", `@retry = { max: 3 }\n\n${node("a", "join")}`),
  item("a policy of the flow above its nodes", `@concurrency = 3\n\n${node("a", "join")}`),
  ["a policy of nodes in the head", "flow 1 x {\n  @retry = { max: 3 }\n}\n", undefined],
  [
    "a time limit of the flow as a field",
    "flow 1 x {\n  timeout = 10m\n}\n",
    "flow 1 x {\n  @timeout = 10m\n}\n",
  ],
  item("an edge with half an arrow", `${JOINS}a > b\nc.out > d\n`, `${JOINS}a -> b\nc.out -> d\n`),
  item(
    "other words for ports",
    `${node("ask", "confirm", 'prompt = "ok?"')}\n${JOINS}ask.yes -> a\nask.no -> b\nask.timeout -> c\na.failure -> d\na.success -> e\n`,
    `${node("ask", "confirm", 'prompt = "ok?"')}\n${JOINS}ask.approved -> a\nask.rejected -> b\nask.expired -> c\na.error -> d\na -> e\n`,
  ),
  item("a misspelt node", `nod a: log {\n  message = "x"\n}\n`, node("a", "log", 'message = "x"')),
  item("step for node", `step a: log {\n  message = "x"\n}\n`, node("a", "log", 'message = "x"')),
  item("a misspelt output", "ouput t: int = 1\n", "output t: int = 1\n"),
  item(
    "output of a whole node",
    `${node("a", "transform", "value = 1")}\noutput t: int = a\n`,
    `${node("a", "transform", "value = 1")}\noutput t: int = a.value\n`,
  ),
  item(
    "types of other languages",
    "input a: integer = 1\ninput c: json\n\noutput b: str = string(inputs.a ?? inputs.c)\n",
    "input a: int = 1\ninput c: any\n\noutput b: string = string(inputs.a ?? inputs.c)\n",
  ),
  item(
    "an arrow of others",
    `${node("a", "transform", "value = 1")}\n${node("b", "log", 'message = "x"')}\na => b\n`,
    `${node("a", "transform", "value = 1")}\n${node("b", "log", 'message = "x"')}\na -> b\n`,
  ),
  item(
    "several nodes at the ends of an arrow of Airflow",
    `${JOINS}[a, b] >> c # all\n`,
    `${JOINS}a -> c\nb -> c # all\n`,
  ),
  item(
    "several nodes in a list and behind an ampersand",
    `${JOINS}a -> b, c\nb & d.error --> e;\n`,
    `${JOINS}a -> b\na -> c\nb -> e\nd.error -> e\n`,
  ),
  item(
    "a list within a chain",
    `${JOINS}a -> [b, c] -> d\n`,
    `${JOINS}a -> b\na -> c\nb -> d\nc -> d\n`,
  ),
  item(
    "an ampersand within a chain",
    `${JOINS}a -> b & c -> d, e\n`,
    `${JOINS}a -> b\na -> c\nb -> d\nb -> e\nc -> d\nc -> e\n`,
  ),
  item("a list, and another edge behind a comma", `${JOINS}[a, b] -> c, d -> e\n`),
  item("an ampersand, and another edge behind a comma", `${JOINS}a -> b & c, d -> e\n`),
  item(
    "a comma before the brace of one line",
    'node a: log { message = "x", }\n',
    'node a: log { message = "x" }\n',
  ),
  item("a semicolon", 'node a: log {\n  message = "x";\n}\n', node("a", "log", 'message = "x"')),
  item("a statement", "if inputs.n > 1 {\n  node a: join\n}\n"),
  ["a YAML document", "name: x\nsteps:\n  - id: a\n    uses: http\n", undefined],
  ["a JSON document", '{\n  "steps": [{ "id": "a" }]\n}\n', undefined],
  ["a flow without its version", 'flow x\n\noutput a = "b"\n', 'flow 1 x\n\noutput a = "b"\n'],
];
