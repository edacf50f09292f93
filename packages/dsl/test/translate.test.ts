// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Flows as JSON: written as text where all of it is understood, else named at their places; files of other tools are told apart. */
import { readdirSync, readFileSync } from "node:fs";
import { checkFlow, type Diagnostic, digest, formatFlow, parseFlow } from "@millrace/dsl";
import { createAnalyser, fixText } from "@millrace/dsl/editor";
import { withTranslation } from "@millrace/dsl/translate";
import { expect, test } from "vitest";
import * as yaml from "yaml";
import { catalog } from "./fixtures/catalog.ts";

const withCatalog = (text: string, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  withTranslation(text, diagnostics, catalog);

const check = (text: string) => {
  const checked = checkFlow(text, catalog);
  return { ...checked, text, diagnostics: withCatalog(text, checked.diagnostics) };
};

const mended = async (document: object) => {
  const { fixed } = await fixText(check(JSON.stringify(document, null, 2)), check);
  return fixed;
};

const LOG = { id: "say", type: "log", fields: { message: "hi ${inputs.name}" } };
const GET = { id: "get", type: "http.request", config: { url: "https://a.example" } };

test("the graph of every flow, bare or in an object of its own, becomes the text that is printed of it", async () => {
  const folder = new URL("fixtures/flows/", import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".flow"))) {
    const { graph } = parseFlow(readFileSync(new URL(file, folder), "utf8"));
    const json = JSON.stringify(file < "1" ? { graph } : graph);
    const { text } = (await fixText(check(json), check)).fixed;
    expect(digest(parseFlow(text).graph), file).toBe(digest(graph));
  }
});

const SHAPES: readonly (readonly [what: string, document: object, flow: string])[] = [
  [
    "holes, ports, types and results",
    {
      name: "Say hi",
      inputs: { name: { type: "string", default: "you" }, n: "int" },
      nodes: [
        { id: "many", type: "condition", params: { if: "${inputs.n > 1}" } },
        LOG,
        { ...GET, retry: { attempts: 2 }, timeout: "5s", depends_on: "say" },
      ],
      edges: [{ source: "many", target: "say", sourceHandle: "true" }],
      outputs: { status: "get.status", text: "n: ${inputs.n}" },
    },
    `flow 1 say-hi {
  title = "Say hi"
}

input name: string = "you"
input n: int

node many: condition {
  if = inputs.n > 1
}

node say: log {
  message = "hi \${inputs.name}"
}

node get: http.request {
  url = "https://a.example"
  @timeout = 5s
  @retry = { max: 2 }
}

say -> get
many.true -> say

output status = get.status
output text = "n: \${inputs.n}"
`,
  ],
  [
    "steps in their order, a body, and edges as texts",
    {
      workflow: {
        id: "each",
        steps: [
          {
            name: "all",
            type: "map",
            with: { items: "{{ [1, 2] }}" },
            body: {
              nodes: [{ id: "one", type: "delay", fields: { for: "1s" }, position: [3, 4] }],
              output: "${item}",
            },
          },
          { id: "say", type: "log", message: 'costs $5 and "}"', position: { x: 1, y: 2 } },
        ],
      },
    },
    `flow 1 each

node all: map {
  items = [1, 2]
  body {
    node one: delay {
      for = 1s
    }

    output = item
  }
}

node say: log {
  message = "costs $5 and \\"}\\""
}

all -> say

layout {
  "all/one" = [3, 4]
  say = [1, 2]
}
`,
  ],
  [
    "values of inputs, and what follows the ports of a node",
    {
      id: "x",
      inputs: {
        tags: ["a"],
        who: "World",
        more: 'two\nnode b: join "',
        none: "",
        n: "integer",
        items: "array",
        score: "Float",
        s: "s",
      },
      steps: [
        {
          id: "many",
          type: "condition",
          if: "${inputs.n > 1}",
          next: { true: ["say", "end"], error: "end" },
        },
        { ...LOG, fields: { message: { $t: [{ $: "inputs.n" }] } }, "@join": "any" },
        { id: "end", type: "join" },
      ],
    },
    `flow 1 x

input tags = ["a"]
input who = "World"
input more = """
  two
  node b: join "
  """
input none = ""
input n: int
input items: any[]
input score: number
input s = "s"

node many: condition {
  if = inputs.n > 1
}

node say: log {
  message = "\${inputs.n}"
  @join = "any"
}

node end: join

many.true -> say
many.true -> end
many.error -> end
`,
  ],
  [
    "edges as texts and as pairs, and a policy as a graph has it",
    {
      id: "x",
      nodes: [{ ...GET, policy: { timeoutMs: 2500 } }, LOG, { id: "end", type: "join" }],
      inputs: [{ name: "name", type: "array", items: { type: "string" }, required: false }],
      edges: ["get -> say", ["say", "end"]],
    },
    `flow 1 x

input name: string[]? = null

node get: http.request {
  url = "https://a.example"
  @timeout = 2500ms
}

node say: log {
  message = "hi \${inputs.name}"
}

node end: join

get -> say
say -> end
`,
  ],
];

test.each(SHAPES)("%s of a document in JSON become a flow", async (_what, document, flow) => {
  const { text, diagnostics } = await mended(document);
  expect(formatFlow(text).text).toBe(flow);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
});

const REFUSED: [what: string, more: object, message: string][] = [
  ["an unknown member", { hooks: [] }, "hooks has no counterpart in a flow"],
  ["a node without a type", { nodes: [LOG, { id: "b" }] }, "nodes[1] has no type"],
  [
    "an edge with a condition of its own",
    { edges: [{ from: "say", to: "say", condition: "x > 1" }] },
    "edges[0].condition is no port",
  ],
  [
    "a hole that is no expression",
    { nodes: [{ ...LOG, fields: { message: "a ${ b c } d" } }] },
    "nodes[0].fields.message is no text of a flow: expected `}`, found c",
  ],
  [
    "a template of what is no part",
    { nodes: [{ ...LOG, fields: { message: { $t: ["a", { b: 1 }] } } }] },
    "nodes[0].fields.message is no value of a graph under `$t`",
  ],
  [
    "a protected value",
    { nodes: [{ ...LOG, fields: { message: { $lit: { $: "a" } } } }] },
    "nodes[0].fields.message is no value of a graph under `$lit`",
  ],
  [
    "a word that is a type or a value",
    { inputs: { format: "json" } },
    "inputs.format is a type or a value: write an object with `type` or `default`",
  ],
  [
    "a type of another language with a part",
    { inputs: { names: "list<string>" } },
    "inputs.names is a type or a value: write an object with `type` or `default`",
  ],
  [
    "an output with its type alone",
    { outputs: { sum: { type: "number", description: "All" } } },
    "outputs.sum says no value: `value` is what it is read from",
  ],
  [
    "ports as a list",
    { edges: [{ from: "say", to: "say", case: ["a"] }] },
    "edges[0].case is no port",
  ],
  [
    "a port beside that of the name",
    { edges: [{ from: "say.out", to: "say", port: "error" }] },
    "edges[0].port stands beside a port in the name of the node",
  ],
  ["a version as an object", { version: {} }, "version is no version of flows: 1"],
  [
    "what is needed as a list",
    { inputs: { name: { type: "string", required: ["a"] } } },
    "inputs.name.required is neither true nor false",
  ],
  [
    "a type beside a schema",
    { inputs: { name: { schema: { type: "string" }, pattern: "^a" } } },
    "inputs.name.pattern stands beside a schema",
  ],
  [
    "a name of a job beside that of its workflow",
    { jobs: { all: { id: "y", steps: [{ id: "b", uses: "join" }] } } },
    "jobs.all.id stands twice in the document",
  ],
  [
    "a place with more than two numbers",
    { nodes: [{ ...LOG, position: { x: 1, y: 2, width: 3 } }] },
    "nodes[0].position is no place: x and y",
  ],
];

const OF_NODES: readonly (readonly [what: string, more: object, message: string])[] = [
  ["an order as an object", { depends_on: { say: {} } }, "depends_on is no list of names of nodes"],
  ["an order as a word", { needs: true }, "needs is no list of names of nodes"],
  ["a successor as a number", { next: 5 }, "next is no list of names of nodes"],
  ["a port that there is not", { next: { yes: "say" } }, "next.yes is under no port of log"],
  ["a policy as a text", { policy: "x" }, "policy is no object"],
  ["a version as a text", { typeVersion: "2" }, "typeVersion is no number"],
  ["an unknown policy", { "@x = 1\nnode b: join": 1 }, '["@x = 1\\nnode b: join"] is no policy'],
];
for (const [what, more, message] of OF_NODES) {
  const dot = message.startsWith("[") ? "" : ".";
  REFUSED.push([what, { nodes: [{ ...LOG, ...more }] }, `nodes[0]${dot}${message}`]);
}

test.each(REFUSED)(
  "%s keeps the text as it is, and is named at its place",
  async (_, more, message) => {
    const document = { id: "x", inputs: ["name"], nodes: [LOG], ...more };
    const { text, diagnostics } = await mended(document);
    expect(text).toBe(JSON.stringify(document, null, 2));
    const found = diagnostics.filter((each) => each.message === message);
    expect(found).toHaveLength(1);
    expect(found[0]?.range?.start.line).toBeGreaterThan(1);
  },
);

test("an editor offers the flow that a document says, and fixes it with all that is certain", () => {
  const text = '{ "id": "x", "nodes": [{ "id": "a", "type": "join" }] }';
  const { entry, types } = catalog;
  const project = { entry, types, translate: withCatalog };
  const analysis = createAnalyser(project).analyse(text);
  const edits = [{ from: 0, to: text.length, text: "flow 1 x\n\nnode a: join\n" }];
  expect(analysis.fixAll()).toEqual(edits);
  expect(analysis.fixesAt(0, 0)).toMatchObject([{ title: "write it as a flow", edits }]);
});

test("a part that stands beside a flow, one that no text says, and a tag of YAML keep the text", () => {
  const told = (text: string): readonly Diagnostic[] =>
    withTranslation(text, checkFlow(text, catalog).diagnostics, catalog, yaml);
  const flow = { id: "x", nodes: [LOG], inputs: ["name"] };
  const beside = told(JSON.stringify({ workflow: flow, schedules: [] }));
  const list = { ...flow, inputs: { name: { type: "string][" } } };
  const noType = told(JSON.stringify(list));
  const tag = told("steps:\n  - id: a\n    type: log\n    message: !env TOKEN\n");
  const set = told("steps:\n  - id: a\n    type: log\n    message: !!set {a, b}\n");
  expect([beside, noType, tag, set].flat().flatMap(({ fixes }) => fixes ?? [])).toEqual([]);
  expect([beside, noType, tag, set].map(([, second]) => second?.message)).toEqual([
    "schedules stands beside workflow, and has no counterpart in a flow",
    expect.stringMatching(/^no flow can be written of it: /),
    expect.stringMatching(/^Unresolved tag: !env at line 4/),
    "steps[0].message is a value that JSON does not have",
  ]);
});

test("a whole number that is not kept exactly is named at its place, in a graph and in a schema", () => {
  const big = "9007199254740993";
  const { graph } = parseFlow("flow 1 x\n\nnode a: test.any {\n  n = 12345\n}\n");
  const texts = [
    yaml.stringify(graph).replace("12345", big),
    `id: x\ninputs:\n  n:\n    schema: { type: integer, maximum: ${big} }\nnodes:\n  - { id: a, type: join }\n`,
  ];
  const found = texts.map((text) => {
    const [first, second] = withTranslation(
      text,
      checkFlow(text, catalog).diagnostics,
      catalog,
      yaml,
    );
    return [first?.fixes ?? [], second?.message, second?.range?.start.line];
  });
  expect(found).toEqual([
    [[], "nodes[0].fields.n is a number that cannot be kept exactly", 8],
    [[], "inputs.n.schema.maximum is a number that cannot be kept exactly", 4],
  ]);
});

test("a key that is set twice is no document that can be kept", () => {
  const [, second] = check('{ "id": "x", "nodes": [], "nodes": [] }').diagnostics;
  expect(second?.message).toBe("nodes is set twice; the first counts");
});

const TOOLS: readonly (readonly [what: string, document: object, hint: string])[] = [
  [
    "a workflow of n8n",
    { nodes: [{ name: "A", type: "n8n-nodes-base.httpRequest" }], connections: {} },
    "httpRequest is `http.request`",
  ],
  [
    "a workflow of GitHub Actions",
    { on: "push", jobs: { a: { steps: [{ run: "ls" }] } } },
    "is `shell.exec`",
  ],
  ["a state machine of Step Functions", { StartAt: "A", States: { A: {} } }, "Next is an edge"],
  ["a flow of Node-RED", [{ id: "1", type: "inject", wires: [] }], "inject is a `schedule`"],
];

test.each(TOOLS)(
  "%s is told apart, stays, and is answered with what corresponds",
  async (what, document, hint) => {
    const { text, diagnostics } = await mended(document);
    expect(text).toBe(JSON.stringify(document, null, 2));
    expect(diagnostics).toMatchObject([
      { code: "FLOW1006", message: `this is ${what}; a flow begins with \`flow 1 <id>\`` },
    ]);
    expect(diagnostics[0]?.hint).toContain(hint);
  },
);
