import { expect, test } from "vitest";
import { flow, inside } from "./inside.ts";

const FLOW = flow(
  'input name: string = "n"',
  "input count: int = 1",
  "input tags: string[] = []",
  "input secret: string? = null {",
  '  schema = { type: ["string", "null"], writeOnly: true }',
  "}",
  "",
  "node all: transform {",
  "  value = { name: inputs.name, count: inputs.count, tags: inputs.tags, hidden: inputs.secret != null }",
  "}",
  "",
  "output all: object = all.value",
).replace("input secret: string? = null {", "input secret = null {");

async function outputs(
  words: string[],
  world: Parameters<typeof inside>[1] = {},
): Promise<unknown> {
  const files = {
    "x.flow": FLOW,
    "name.txt": "from a file\n",
    "all.json": '{"name":"json","count":3}',
  };
  const told = await inside(["run", "x.flow", ...words], { files, ...world });
  expect(told.stderr).not.toContain("error:");
  return (JSON.parse(told.stdout) as { all: unknown }).all;
}

async function refusal(words: string[], world: Parameters<typeof inside>[1] = {}): Promise<string> {
  const told = await inside(["run", "x.flow", ...words], {
    files: { "x.flow": FLOW, "bad.json": "[1]" },
    ...world,
  });
  expect(told.code).toBe(2);
  return told.stderr.trim().split("\n").at(-1) ?? "";
}

test("a string takes its text as it is, any other type reads JSON", async () => {
  expect(await outputs(["-i", "name=7", "-i", "count=7"])).toMatchObject({ name: "7", count: 7 });
});

test("repeating an input replaces a scalar and appends to a list", async () => {
  const words = ["-i", "name=a", "-i", "name=b", "-i", "tags=x", "-i", 'tags=["y","z"]'];
  expect(await outputs(words)).toMatchObject({ name: "b", tags: ["x", "y", "z"] });
});

test("a value comes from a file, from stdin, from the environment, or begins with a literal at sign", async () => {
  expect(await outputs(["-i", "name=@name.txt"])).toMatchObject({ name: "from a file" });
  expect(await outputs(["-i", "name=@-"], { stdin: "from stdin\n" })).toMatchObject({
    name: "from stdin",
  });
  expect(await outputs(["-i", "name=@env:WHO"], { env: { WHO: "env" } })).toMatchObject({
    name: "env",
  });
  expect(await outputs(["-i", "name=@@x"])).toMatchObject({ name: "@x" });
});

test("all inputs at once come as JSON, and single ones win over it", async () => {
  expect(await outputs(["--input-json", "all.json", "-i", "count=4"])).toMatchObject({
    name: "json",
    count: 4,
  });
});

test("an input that must not be shown is refused as a literal and taken from the environment", async () => {
  expect(await refusal(["-i", "secret=hunter2"])).toBe(
    "error: input secret must not be written on the command line; use secret=@env:NAME or secret=@file",
  );
  expect(await outputs(["-i", "secret=@env:PW"], { env: { PW: "hunter2" } })).toMatchObject({
    hidden: true,
  });
});

test.each([
  [["-i", "nope=1"], "error: the flow has no input nope; its inputs: name, count, tags, secret"],
  [["-i", "name"], 'error: --input takes name=value, found "name"'],
  [["-i", "count=many"], "error: input count takes an integer, written as JSON"],
  [["-i", "name=@none.txt"], "error: input name: cannot read none.txt: no such file"],
  [["-i", "name=@env:NONE"], "error: input name: the environment has no NONE"],
  [
    ["--input-json", "bad.json"],
    'error: bad.json is not a JSON object; --input-json takes {"name": value}',
  ],
  [
    ["-i", "name=@-", "--input-json", "-"],
    "error: only one thing can read stdin; put the other one in a file",
  ],
  [["--confirm", "ask=maybe"], 'error: --confirm ask takes approve or reject, found "maybe"'],
  [["--only", "none"], "error: --only: the flow has no node none"],
  [
    ["--timeout", "5"],
    'error: --timeout takes a duration, found "5"; write it as 250ms, 30s, 5m or 2h',
  ],
])("%j is refused in one sentence", async (words, sentence) => {
  expect(await refusal(words)).toBe(sentence);
});

test("a file that is the value of the one object input is told how to become it", async () => {
  const files = {
    "call.flow": flow("input call: object", "", "node a: log {", '  message = "x"', "}"),
    "call.json": '{"headers":{},"body":{}}',
  };
  const told = await inside(["run", "call.flow", "--input-json", "call.json"], { files });
  expect(told.stderr.trim().split("\n").at(-1)).toBe(
    'error: the flow has no input headers; its inputs: call; as a whole it is -i call=@call.json, or write {"call": …} around it',
  );
});
