/** What people see: code frames, plain lines, the tree, and formatted text. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { graphWith } from "@millrace/test-support/graph";
import { expect, test } from "vitest";
import { jsonLines } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const TYPO = 'flow 1 rates\n\nnode fetch: htp.request {\n  url = "https://rates.example/"\n}\n';

test("a diagnostic shows the place in the text and what to do about it", async () => {
  const told = await inside(["validate", "rates.flow"], { files: { "rates.flow": TYPO } });
  expect(told.code).toBe(3);
  expect(told.stderr.split("\n").slice(0, 6)).toEqual([
    "error[FLOW3001] unknown node type htp.request",
    "  rates.flow:3:13",
    "  3 | node fetch: htp.request {",
    "    |             ^^^^^^^^^^^ did you mean http.request? or install the extension that brings it",
    '  4 |   url = "https://rates.example/"',
    "  fix: write http.request",
  ]);
});

test("under --json each file is a line, and the summary carries the diagnostics", async () => {
  const told = await inside(["validate", "rates.flow", "--json"], {
    files: { "rates.flow": TYPO },
  });
  const lines = jsonLines<Record<string, unknown>>(told.stdout);
  expect(lines[0]).toMatchObject({
    file: "rates.flow",
    valid: false,
    diagnostics: [{ code: "FLOW3001" }],
  });
  expect(lines[1]).toMatchObject({
    kind: "summary",
    status: "invalid",
    exitCode: 3,
    diagnostics: [{ code: "FLOW3001" }],
  });
});

test("a warning shows, and is an error only when asked for", async () => {
  const files = {
    "x.flow": flow("input unread: int = 1", "", "node a: log {", '  message = "hi"', "}"),
  };
  const words = ["validate", "x.flow"];
  expect((await inside(words, { files })).code).toBe(0);
  expect((await inside([...words, "--strict"], { files })).code).toBe(3);
  expect((await inside([...words, "--quiet"], { files })).stderr).toBe("");
});

test("the last line of a file counts all that was shown", async () => {
  const files = { "x.flow": flow("// late", "node a: log {", '  message = "hi"', "}") };
  const { code, stderr } = await inside(["validate", "x.flow"], { files });
  expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([0, "✓ x.flow: 1 info"]);
});

test("without a terminal each step is a line, and the outputs are JSON on stdout", async () => {
  const files = {
    "x.flow": flow(
      "input n: int = 1",
      "",
      "node a: transform {",
      "  value = inputs.n",
      "}",
      "",
      "node open: condition {",
      "  if = a.value > 1",
      "}",
      "",
      "node b: log {",
      '  message = "x"',
      "}",
      "",
      "open.true -> b",
      "",
      "output n: int = a.value",
    ),
  };
  const told = await inside(["run", "x.flow"], { files });
  expect(told.stdout).toBe('{\n  "n": 1\n}\n');
  expect(
    told.stderr
      .replace(/\d\d:\d\d:\d\d\.\d{3}/g, "T")
      .replace(/run_\w{26}/, "ID")
      .replace(/\d+ms/g, "0ms"),
  ).toBe(
    [
      "T run.started     x ID nodes=3",
      "T node.succeeded  a 0ms",
      "T node.succeeded  open 0ms -> false",
      "T node.skipped    b dead (open left by false)",
      "T summary         succeeded 0ms nodes: 2 ok 0 failed 1 skipped",
      "",
    ].join("\n"),
  );
});

test("quiet says only what failed and how it ended", async () => {
  const files = { "x.flow": flow("node a: fail {", '  message = "no"', "}") };
  const told = await inside(["run", "x.flow", "-q"], { files });
  expect(told.stderr.split("\n").map((line) => line.split(" ")[1])).toEqual([
    "node.failed",
    "summary",
    undefined,
  ]);
});

test("a terminal gets a tree that ends with what happened, and an operator's answer is taken from the keyboard", async () => {
  const files = {
    "x.flow": flow(
      "node ask: confirm {",
      '  prompt = "Go on?"',
      "}",
      "",
      "node each: map {",
      "  items = range(30)",
      "  body {",
      "    node one: transform {",
      "      value = item",
      "    }",
      "",
      "    output = one.value",
      "  }",
      "}",
      "",
      "ask.approved -> each",
    ),
  };
  const keys = new PassThrough();
  const running = inside(["run", "x.flow", "--color", "never"], { files, terminal: true, keys });
  keys.write("v");
  const asking = setInterval(() => keys.write("y"), 20);
  const told = await running;
  clearInterval(asking);
  expect(told.code).toBe(0);
  const last = told.stderr.slice(told.stderr.lastIndexOf("\u001b[0J") + 4);
  expect(last).toContain("✓ ask   confirm");
  expect(last).toMatch(/✓ each {2}map .* 30\/30/);
  expect(last).toContain("✓ 20 more");
  expect(last).toMatch(/✓ x succeeded in .* nodes 32 ok/);
});

test("fmt rewrites a file as a whole, prints with --stdout, and shows the difference with --check", async () => {
  const loose = flow("node a: log {", 'message = "hi"', "}");
  const files = { "x.flow": loose };
  const shown = await inside(["fmt", "x.flow", "--stdout"], { files });
  expect(shown.stdout).toContain('  message = "hi"');
  const checked = await inside(["fmt", "x.flow", "--check"], { cwd: shown.cwd });
  expect([checked.code, checked.stdout.includes('+  message = "hi"')]).toEqual([1, true]);
  expect(readFileSync(join(shown.cwd, "x.flow"), "utf8")).toBe(loose);
  expect((await inside(["fmt", "x.flow"], { cwd: shown.cwd })).code).toBe(0);
  expect(readFileSync(join(shown.cwd, "x.flow"), "utf8")).toBe(shown.stdout);
  expect((await inside(["fmt", "x.flow", "--check"], { cwd: shown.cwd })).code).toBe(0);
});

test("fmt leaves a file with errors as it is", async () => {
  const broken = "flow 1 x\n\nnode a: log {\n";
  const told = await inside(["fmt", "x.flow"], { files: { "x.flow": broken } });
  expect(told.code).toBe(3);
  expect(readFileSync(join(told.cwd, "x.flow"), "utf8")).toBe(broken);
});

test("a flow comes from stdin, and a graph in JSON runs as well", async () => {
  const text = flow("node a: log {", '  message = "hi"', "}");
  expect((await inside(["run", "-"], { stdin: text })).code).toBe(0);
  expect((await inside(["fmt", "-"], { stdin: text })).stdout).toBe(text);
  const graph = graphWith({
    id: "g",
    nodes: [{ id: "a", type: "log", fields: { message: "hi" } }],
  });
  expect(
    (await inside(["run", "g.json"], { files: { "g.json": JSON.stringify(graph) } })).code,
  ).toBe(0);
  expect((await inside(["run", "g.json"], { files: { "g.json": '{"nodes":' } })).code).toBe(3);
});

test("a subflow is found beside the file, and one that is nowhere makes the flow invalid", async () => {
  const child =
    "flow 1 child\n\nnode one: transform {\n  value = 41\n}\n\noutput n: int = one.value\n";
  const parent = flow(
    "node call: subflow {",
    '  flow = "child"',
    "}",
    "",
    "node more: transform {",
    "  value = call.outputs.n + 1",
    "}",
    "",
    "output n: int = more.value",
  );
  const told = await inside(["run", "x.flow"], {
    files: { "x.flow": parent, "child.flow": child },
  });
  expect([told.code, told.stdout]).toEqual([0, '{\n  "n": 42\n}\n']);
  expect((await inside(["run", "x.flow"], { files: { "x.flow": parent } })).code).toBe(3);
});

test("a run shows each finding once, whether reading the flow or compiling it has found it", async () => {
  const text = flow(
    'input unused: string = "a"',
    'node a: subflow {\n  flow = "nowhere"\n}',
    "output o = a.outputs",
  );
  const told = await inside(["run", "x.flow"], { files: { "x.flow": text } });
  const heads = told.stderr.split("\n").filter((line) => /^(?:error|warning)\[/.test(line));
  expect([told.code, heads]).toEqual([
    3,
    ["warning[FLOW4011] input unused is never read", "error[FLOW4010] flow nowhere does not exist"],
  ]);
});
