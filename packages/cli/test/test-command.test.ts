/** `millrace test`: what a flow makes is compared with what is kept beside it. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ExecutionEvent, FlowGraph } from "@millrace/contracts";
import { notLinux, testUnless } from "@millrace/test-support";
import { expect, test } from "vitest";
import { golden } from "../src/commands/test/normal.ts";
import { example, lastSummary, scratch } from "./cli.ts";
import { inside } from "./inside.ts";

/** A copy of an example, with its own folder's name. */
function copy(name: string): string {
  const cwd = scratch();
  const filter = (path: string): boolean => !/node_modules|\/out$/.test(path);
  cpSync(example(name), join(cwd, name), { recursive: true, filter });
  return cwd;
}

test("a difference is a unified diff on stdout, and exit code 1", async () => {
  const cwd = copy("01-hello");
  const file = join(cwd, "01-hello/golden.ndjson");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("Hello, world!", "Hello, moon!"));
  const told = await inside(["test", "."], { cwd });
  expect(told.code).toBe(1);
  expect(told.stderr).toBe(
    "✗ 01-hello/hello.flow\nerror: 1 of 1 test failed; millrace test --update keeps what they make now\n",
  );
  expect(told.stdout).toMatch(
    /^--- 01-hello\/hello\.flow \(kept\)\n\+\+\+ 01-hello\/hello\.flow \(made\)\n@@ /m,
  );
  expect(told.stdout).toMatch(/^-\{.*Hello, moon!/m);
  expect(told.stdout).toMatch(/^\+\{.*Hello, world!/m);
  const json = await inside(["test", ".", "--json"], { cwd });
  const lines = json.stdout.trimEnd().split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    file: "01-hello/hello.flow",
    status: "failed",
    patch: expect.stringContaining("moon"),
  });
  expect(lastSummary(json.stdout)).toMatchObject({
    status: "failed",
    exitCode: 1,
    error: { code: "check_failed" },
  });
});

test("--update writes the kept events and nothing else", async () => {
  const cwd = copy("01-hello");
  const folder = join(cwd, "01-hello");
  const kept = readFileSync(join(folder, "golden.ndjson"), "utf8");
  rmSync(join(folder, "golden.ndjson"));
  mkdirSync(join(folder, "fixtures"));
  const missing = await inside(["test", "01-hello"], { cwd });
  expect([
    missing.code,
    missing.stderr.includes("golden.ndjson is missing; --update writes it"),
  ]).toEqual([1, true]);
  const before = readdirSync(folder).sort();
  const updated = await inside(["test", "01-hello", "--update"], { cwd });
  expect([updated.code, updated.stderr]).toEqual([
    0,
    "✓ 01-hello/hello.flow (updated)\n1 test passed\n",
  ]);
  expect(readdirSync(folder).sort()).toEqual([...before, "golden.ndjson"].sort());
  expect(readFileSync(join(folder, "golden.ndjson"), "utf8")).toBe(kept);
});

test("a failure is kept and told of, but never one of fixtures that do not hold the answer", async () => {
  const cwd = scratch({
    "x.flow": 'flow 1 x\n\nnode get: http.request {\n  url = "https://example.invalid/"\n}\n',
  });
  const missing = await inside(["test", "x.flow", "--update"], { cwd });
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining(
      "✗ x.flow\n  the run failed with fixture_missing: no answer is recorded for GET https://example.invalid/; http.json holds answers of the network\n  nothing is kept: add it to its folder of fixtures\n",
    ),
  ]);
  expect(existsSync(join(cwd, "golden.ndjson"))).toBe(false);
  mkdirSync(join(cwd, "fixtures"));
  const answers = JSON.stringify([{ url: "https://example.invalid/", status: 404 }]);
  writeFileSync(join(cwd, "fixtures/http.json"), answers);
  for (const words of [["--update"], []]) {
    const told = await inside(["test", "x.flow", ...words], { cwd });
    expect([told.code, told.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^✓ x\.flow.*\n {2}kept: the run failed with http_status: .*404.*\n1 test passed\n$/,
      ),
    ]);
  }
});

test("a folder of its own for files is $ROOT in the kept events", async () => {
  const cwd = scratch({
    "x.flow": 'flow 1 x\n\nnode read: file.read {\n  path = "none.txt"\n}\n',
  });
  await inside(["test", "x.flow", "--update"], { cwd });
  expect(readFileSync(join(cwd, "golden.ndjson"), "utf8")).not.toContain("millrace-files-");
});

test("a question that nobody answers fails the test, with its name", async () => {
  const cwd = scratch({
    "x.flow":
      'flow 1 x\n\nnode ask: confirm {\n  prompt = "Go?"\n}\n\nnode say: log {\n  message = "ok"\n}\n\nask.approved -> say\n',
  });
  const told = await inside(["test", "x.flow"], { cwd });
  expect(told.code).toBe(1);
  expect(told.stderr).toContain('"ask" waits for a person; answer it in confirm.json');
});

test("--filter takes tests whose path matches", async () => {
  const cwd = copy("01-hello");
  cpSync(join(cwd, "01-hello"), join(cwd, "02-hello"), { recursive: true });
  const told = await inside(["test", "--filter", "^02"], { cwd });
  expect([told.code, told.stderr]).toEqual([0, "✓ 02-hello/hello.flow\n1 test passed\n"]);
});

test.each([
  ["a folder without a test", ["test", "."], "is a test"],
  ["no match", ["test", "x.flow", "--filter", "zzz"], "no test matches zzz"],
  [
    "a pattern that is none",
    ["test", "x.flow", "--filter", "("],
    "--filter takes a regular expression",
  ],
  ["no such file", ["test", "y.flow"], "cannot read y.flow: no such file"],
  ["a file as a folder", ["test", "x.flow/y"], "cannot read x.flow/y: a part of the path is not"],
])("%s is exit code 2", async (_name, words, says) => {
  const told = await inside(words, {
    files: { "x.flow": 'flow 1 x\n\nnode a: log {\n  message = "a"\n}\n' },
  });
  expect([told.code, told.stdout]).toEqual([2, ""]);
  expect(told.stderr).toContain(says);
});

testUnless(notLinux)(
  "a link to itself is no folder, whether a test or the files of its fixtures",
  async () => {
    const cwd = copy("01-hello");
    symlinkSync("loop", join(cwd, "loop"));
    const loop = await inside(["test", "loop"], { cwd });
    expect([loop.code, loop.stderr]).toEqual([2, expect.stringContaining("cannot read loop")]);
    mkdirSync(join(cwd, "01-hello/fixtures"));
    symlinkSync("files", join(cwd, "01-hello/fixtures/files"));
    expect((await inside(["test", "01-hello"], { cwd })).code).toBe(0);
  },
);

test("a flow that is not valid fails its test", async () => {
  const cwd = scratch({ "x.flow": "flow 1 x\n\nnode a: no.such {\n}\n" });
  const told = await inside(["test", "x.flow"], { cwd });
  expect([told.code, told.stderr.includes("the flow is not valid: 1 error")]).toEqual([1, true]);
  expect(told.stderr).toContain("error[FLOW3001] unknown node type no.such\n  x.flow:3:9\n");
  const json = await inside(["test", "x.flow", "--json"], { cwd });
  expect(JSON.parse(json.stdout.split("\n")[0] ?? "")).toMatchObject({
    problems: ["the flow is not valid: 1 error", "unknown node type no.such"],
  });
});

test("a path below a call is one of the flow that is called, by whatever text names it", async () => {
  const called = (ref: string) => `flow 1 x\n\nnode s: subflow {\n  flow = "${ref}"\n}\n`;
  const cwd = scratch({
    "called.flow": "flow 1 called\n\nnode one: transform {\n  value = 1\n}\n",
  });
  mkdirSync(join(cwd, "fixtures"));
  writeFileSync(join(cwd, "fixtures/nodes.json"), '{ "s/on": { "output": {} } }');
  for (const ref of ["called", "called@3", `called#sha256:${"0".repeat(64)}`]) {
    writeFileSync(join(cwd, "x.flow"), called(ref));
    expect(await inside(["run", "x.flow", "--fixtures", "fixtures"], { cwd })).toMatchObject({
      code: 2,
      stderr: "error: nodes.json: there is no node s/on; there are s/one; did you mean s/one?\n",
    });
  }
});

test("pieces of answers are one in the kept events, however calls at once took turns", () => {
  const piece = (node: string, offset: number, text: string): object => {
    return { kind: "llm.delta", node, attempt: 1, call: `c${node}`, channel: "text", offset, text };
  };
  const textOf = (...log: object[]): string =>
    golden(log as ExecutionEvent[], { nodes: [{ id: "1" }, { id: "2" }] } as unknown as FlowGraph);
  const [a, b, c, d] = [
    piece("1", 0, "Thank"),
    piece("1", 5, " you"),
    piece("2", 0, "We"),
    piece("2", 2, " are"),
  ] as const;
  expect(textOf(a, c, b, d)).toBe(textOf(a, b, c, d));
  expect(textOf(a, c, b, d)).toContain('"text":"Thank you"');
});
