// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Lines as other languages have them: each form is mended to what was meant, and nothing is changed in a text without errors. */
import { checkFlow } from "@millrace/dsl";
import { fixText } from "@millrace/dsl/editor";
import { expect, test } from "vitest";
import { catalog } from "../fixtures/catalog.ts";

const AROUND = `flow 1 x

input n: int = 2

node a: condition { if = inputs.n > 1 }

node b: log { message = "many" }

`;

const check = (text: string) => ({ text, ...checkFlow(text, catalog) });

const node = (type: string, ...lines: string[]): string =>
  `node c: ${type} {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;

const LOG = node("log", 'message = "late"');
const GET = 'url = "https://a.example"';
const LOOP = node("loop", "max = 3", "body {", "output = index", "}");

const CHOICE = "node choice: condition {\n  if = inputs.n > 7\n}\n\n";

const FORMS: readonly (readonly [what: string, wrong: string, right: string])[] = [
  ["a head of Terraform", LOG.replace("c: log", '"c" "log"'), LOG],
  ["a type in parentheses", LOG.replace("c: log", "c(log)"), LOG],
  ["a type before the name", LOG.replace("c: log", "log c"), LOG],
  ["no word before a node", LOG.replace("node ", ""), LOG],
  ["a type among the fields", LOG.replace(": log {", ' {\n  type = "log"'), LOG],
  ["a brace on its own line", LOG.replace(" {", "\n{"), LOG],
  ["fields in a block", node("log", "with {", 'message = "late"', "}"), LOG],
  ["steps for a body", LOOP.replace("body", "steps"), LOOP],
  ["no braces of a body", node("loop", "max = 3", "output = index"), LOOP],
  ["a returned result of a body", LOOP.replace("output =", "return"), LOOP],
  ["a policy as a call", node("join", "@timeout(5s)"), node("join", "@timeout = 5s")],
  [
    "a policy as a call with names",
    node("http.request", GET, "@retry(max: 2, delay: 1s)"),
    node("http.request", GET, "@retry = { max: 2, delay: 1s }"),
  ],
  [
    "a policy as a block",
    node("http.request", GET, "@cache {", "  ttl = 5s", "}"),
    node("http.request", GET, "@cache = { ttl: 5s }"),
  ],
  ["an order as a field", LOG.replace("{\n", '{\n  depends_on = ["b"]\n'), `${LOG}\nb -> c\n`],
  [
    "an address without quotes",
    node("http.request", GET.replaceAll('"', "")),
    node("http.request", GET),
  ],
  [
    "a sentence without quotes",
    node("log", "message = it is not late"),
    node("log", 'message = "it is not late"'),
  ],
  [
    "a word of a list without quotes",
    node("http.request", GET, "method = post"),
    node("http.request", GET, 'method = "POST"'),
  ],
  ["inputs in a block", "inputs {\n  m: int = 1\n}\n", "input m: int = 1\n"],
  ["outputs in a block", "outputs {\n  m = inputs.n\n}\n", "output m = inputs.n\n"],
  ["edges in a block", "edges {\n  a.true -> b\n}\n", "a.true -> b\n"],
  ["edges in a list", 'edges = [\n  "a.true -> b",\n]\n', "a.true -> b\n"],
  ["an input in parentheses", "input m (int)\n", "input m: int\n"],
  ["an input with its type first", "input int m = 2\n", "input m: int = 2\n"],
  ["the word default", "input m: int default 2\n", "input m: int = 2\n"],
  ["an input of Terraform", "input m {\n  type = int\n  default = 2\n}\n", "input m: int = 2\n"],
  ["a list of other languages", "input m: [int]\n", "input m: int[]\n"],
  ["an output as a block", "output m {\n  value = inputs.n\n}\n", "output m = inputs.n\n"],
  ["an output without its sign", "output m: inputs.n\n", "output m = inputs.n\n"],
  ["a returned result", "return inputs.n\n", "output result = inputs.n\n"],
  [
    "a schedule without a name",
    "schedule {\n  every = 1h\n}\n",
    "schedule main {\n  every = 1h\n}\n",
  ],
  [
    "a schedule on one line",
    'schedule d = "0 8 * * *"\n',
    'schedule d {\n  cron = "0 8 * * *"\n}\n',
  ],
  ["an interval", "schedule d {\n  interval = 1h\n}\n", "schedule d {\n  every = 1h\n}\n"],
  ["a port in brackets behind the edge", "a -> b [true]\n", "a.true -> b\n"],
  ["a port after when", "a -> b when true\n", "a.true -> b\n"],
  ["a port after a colon", "a:true -> b\n", "a.true -> b\n"],
  ["a port on the arrow", "a -true-> b\n", "a.true -> b\n"],
  ["an edge in an if", "if (a.result == true) {\n  a -> b\n}\n", "a.true -> b\n"],
  [
    "steps in the arms of an if",
    `${LOG}if inputs.n > 7 {\n  b -> c # late\n} else {\n  a\n}\n`,
    `${LOG}${CHOICE}b -> choice\nchoice.true -> c\nchoice.false -> a\n`,
  ],
  [
    "edges one behind the other in an if",
    `${LOG}if a.result {\n  a -> b\n  b -> c\n}\n`,
    `${LOG}a.true -> b\nb -> c\n`,
  ],
  [
    "two ifs, of which one names a step in a text and a member",
    `input b: int\n\n${LOG}if inputs.b > 1 || "b" == "c" {\n  b -> c\n}\nelse {\n  run a\n}\n\nif a.result && inputs.n > 7 {\n  a -> c\n}\n`,
    `input b: int\n\n${LOG}${CHOICE.replace("inputs.n > 7", 'inputs.b > 1 || "b" == "c"')}b -> choice
choice.true -> c\nchoice.false -> a\n
${CHOICE.replace("choice", "choice-2").replace("inputs", "a.result && inputs")}choice-2.true -> c\n`,
  ],
  [
    "a body with a colon",
    node("http.request", GET, "body: { x: inputs.n }"),
    node("http.request", GET, "body = { x: inputs.n }"),
  ],
  [
    "a word that is also the id of a node",
    LOG.replace("c: log {", "warn: log {\n  level = warn"),
    LOG.replace("c: log {", 'warn: log {\n  level = "warn"'),
  ],
  [
    "a type in front of a name that is a type elsewhere",
    "input string text\n",
    "input text: string\n",
  ],
  [
    "a semicolon behind the quotes of a text",
    node("log", 'message = """;', "late", '""";'),
    node("log", 'message = """', "late", '"""'),
  ],
  [
    "a field without its sign",
    node("ai", 'input "${inputs.n}"', "temperature = 0"),
    node("ai", 'input = "${inputs.n}"', "temperature = 0"),
  ],
  [
    "the types of two nodes by their order",
    LOG.replace("c: log", "log print"),
    LOG.replace("c:", "print:"),
  ],
  ["a type with a capital", "input m: String\n", "input m: string\n"],
  ["a missing comma in a call", "output m = min(1 inputs.n)\n", "output m = min(1, inputs.n)\n"],
  [
    "missing commas in a list",
    'output m = ["a" "b", 3 inputs.n]\n',
    'output m = ["a", "b", 3, inputs.n]\n',
  ],
  ["a missing comma in an object", "output m = { x: 1 y: 2 }\n", "output m = { x: 1, y: 2 }\n"],
  [
    "a default of JavaScript that is read",
    'input o: string?\n\ninput p: string?\n\noutput m = inputs.o || inputs.p || "x"\n',
    'input o: string?\n\ninput p: string?\n\noutput m = inputs.o ?? inputs.p ?? "x"\n',
  ],
  [
    "a choice of Python behind a type",
    'output m: string = "x" if inputs.n > 1 else "y"\n',
    'output m: string = inputs.n > 1 ? "x" : "y"\n',
  ],
  [
    "a choice of Python",
    'output m = "x" if inputs.n > 1 else "y"\n',
    'output m = inputs.n > 1 ? "x" : "y"\n',
  ],
  [
    "a choice in words",
    'output m = if inputs.n > 1 then "x" else "y"\n',
    'output m = inputs.n > 1 ? "x" : "y"\n',
  ],
  [
    "a choice in words without an else",
    'output m = if (inputs.n > 1) then "x"\n',
    'output m = (inputs.n > 1) ? "x" : null\n',
  ],
  ["the time of JavaScript", "output m = new Date()\n", "output m = now()\n"],
  [
    "a time of JavaScript as text",
    'output m = new Date("2030-01-01").toISOString()\n',
    'output m = date("2030-01-01")\n',
  ],
  [
    "a choice of texts as a type",
    'input m: "a|b" | "c" = "c"\n',
    'input m = "c" {\n  schema = { type: "string", enum: ["a|b", "c"] }\n}\n',
  ],
  [
    "a choice of texts as the type of an output",
    'output m: "a" | "b" = "a"\n',
    'output m = "a" {\n  schema = { type: "string", enum: ["a", "b"] }\n}\n',
  ],
  ["a type or null", "input m: string | null = null\n", "input m: string? = null\n"],
  ["is not null", "output m = inputs.n is not null\n", "output m = inputs.n != null\n"],
  ["an f-string", 'output m = f"n {inputs.n}"\n', 'output m = "n ${inputs.n}"\n'],
  ["a duration in words", node("delay", "for = 5 minutes"), node("delay", "for = 5m")],
  ["a default of JavaScript", "output m = inputs.n || 0\n", "output m = inputs.n ?? 0\n"],
  ["prose behind the flow", "This is what you asked for.\n", ""],
];

test.each(FORMS)("%s is mended to what was meant", async (_what, wrong, right) => {
  const { fixed } = await fixText(check(AROUND + wrong), check);
  expect(fixed.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(fixed.graph).toEqual(check(AROUND + right).graph);
});

test.each([
  ["a choice in words", 'output m = if inputs.n > 1 then "x" else "y"\n'],
  ["a time", "output m = new Date()\n"],
  ["a choice of texts", 'input m: "a" | "b"\n\noutput o = inputs.m\n'],
])("%s of another language is one finding", (_what, text) => {
  const { diagnostics } = check(AROUND + text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toHaveLength(1);
});

test("a flow in the braces of its head, with prose in front of it, is mended", async () => {
  const inside = AROUND.slice(AROUND.indexOf("\n"));
  const wrong = `Sure, here it is:\n\nflow 1 x {\n  title = "T"\n${inside}}\n`;
  const { fixed, made } = await fixText(check(wrong), check);
  expect(fixed.ok).toBe(true);
  expect(fixed.graph).toEqual(check(`flow 1 x {\n  title = "T"\n}\n${inside}`).graph);
  expect(made.map(({ title }) => title)).toContain("write it so");
});

test.each([
  ["an input", "input amount: int\n\noutput m = inputs.amont\n", "inputs.amount"],
  ["a member of an object", "output m = map([{ amount: 1 }], x, x.amont)\n", "x.amount"],
  ["a member of another name", "output m = map([{ body: 1 }], x, x.data)\n", "x.body"],
])("a name that is only like %s of the author stays an error", async (_what, more, meant) => {
  const wrong = `${AROUND}${more}`;
  const { fixed, made } = await fixText(check(wrong), check);
  expect([fixed.text, made]).toEqual([wrong, []]);
  const found = fixed.diagnostics.find(({ severity }) => severity === "error");
  expect(found?.fixes).toMatchObject([{ uncertain: true, edits: [{ newText: meant }] }]);
});

test("an if whose edges are not clear stays whole", async () => {
  const blocks = [
    "if inputs.n > 7 {\n  node d: join\n}\n",
    "if a.result {\n  b -> a\n}\n",
    "if inputs.n > 7 {\n  a\n  -> b\n}\n",
    "if inputs.n > 7 {\n  a\n  then b\n}\n",
    "if inputs.n > 7 {\n  runb\n}\n",
    "if inputs.n > 7 {\n  a\n}\nelse if inputs.n > 8 {\n  b\n}\n",
  ];
  for (const block of blocks) {
    const { fixed } = await fixText(check(AROUND + block), check);
    expect(fixed.text).toBe(AROUND + block);
  }
});

test("lines that read like another language in text stay as they are", async () => {
  const kept = `${AROUND}node c: log {\n  message = """\n    edges {\n    a -> b [true]\n    }\n    """\n}\n`;
  const { fixed } = await fixText(check(kept.replace("log", "lgo")), check);
  expect(fixed.text.replace("lgo", "log")).toContain("a -> b [true]");
  expect(check(kept).ok).toBe(true);
});

test.each([
  ["a duration", 'node c: log {\n  mesage = "in the last 24 hours"\n}\n', "the last 24 hours"],
  ["a default", 'node c: log {\n  mesage = "a || 0 ${inputs.n}"\n}\n', "a || 0"],
  ["a default's word", 'input d: uuid = "use the default city"\n', "use the default city"],
  [
    "a choice",
    'node c: log {\n  mesage = "go if you can else stay"\n}\n',
    "go if you can else stay",
  ],
  [
    "a list of inputs",
    'inputs {\n  p: string = """\n    Be kind.\n    """\n}\n',
    "\n    Be kind.\n",
  ],
  ["a comment behind a field", 'node c {\n  type = "log" # tells\n  message = "m"\n}\n', "# tells"],
  ["a comment behind a head", 'node c: log # tells\n{\n  message = "m"\n}\n', "# tells"],
  ["what is in braces", 'output m = "{\\"n\\": #{inputs.n}}"\n', "}}"],
])("%s in words of the author stays", async (_what, text, kept) => {
  const { fixed } = await fixText(check(AROUND + text), check);
  expect(fixed.text).toContain(kept);
});

test("comments and items in front of a flow stay when prose goes", async () => {
  const wrong = `# MIT\n# owner: ops\nHere is the flow:\n${AROUND}`;
  const { fixed } = await fixText(check(wrong), check);
  expect(fixed.text).toBe(`# MIT\n# owner: ops\n${AROUND}`);
});
