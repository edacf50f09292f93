import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const READ = flow(
  "node read: file.read {",
  '  path = "in.txt"',
  "}",
  "",
  "output text: string = read.content",
);
const WAIT = flow("node wait: delay {", "  for = 1h", "}");

/** A project: the flow in the project's folder, its files in a folder of their own. */
function project(config: string): string {
  const cwd = scratch({ "x.flow": READ, "millrace.json": config });
  mkdirSync(join(cwd, "data"));
  writeFileSync(join(cwd, "data", "in.txt"), "from data");
  return cwd;
}

test("a project file that grants power counts only when its exact bytes are trusted", async () => {
  const config = '{ "files": { "root": "data" } }';
  const cwd = project(config);
  const refused = await inside(["run", "x.flow"], { cwd });
  expect([refused.code, refused.stderr.includes("is not trusted, and it sets files")]).toEqual([
    2,
    true,
  ]);
  const digest = `sha256:${createHash("sha256").update(config).digest("hex")}`;
  const trusted = await inside(["run", "x.flow"], { cwd, env: { MILLRACE_TRUST_PROJECT: digest } });
  expect(JSON.parse(trusted.stdout)).toEqual({ text: "from data" });
  writeFileSync(join(cwd, "millrace.json"), '{ "files": { "root": "/" } }');
  expect(
    (await inside(["run", "x.flow"], { cwd, env: { MILLRACE_TRUST_PROJECT: digest } })).code,
  ).toBe(2);
});

test("an untrusted project can still be checked and formatted", async () => {
  const cwd = project('{ "files": { "root": "/" } }');
  expect((await inside(["validate", "x.flow"], { cwd })).code).toBe(0);
  expect((await inside(["fmt", "--check", "x.flow"], { cwd })).code).toBe(0);
});

test("the user's own file needs no trust, and the project's wins over it key by key", async () => {
  const home = scratch({ "config.json": '{ "run": { "timeoutMs": 30 } }' });
  const cwd = scratch({ "x.flow": WAIT });
  expect((await inside(["run", "x.flow", "--home", home], { cwd })).code).toBe(124);
  expect((await inside(["run", "x.flow"], { cwd, env: { MILLRACE_HOME: home } })).code).toBe(124);
  writeFileSync(join(cwd, "millrace.json"), '{ "run": { "timeoutMs": 20 } }');
  expect((await inside(["run", "x.flow"], { cwd })).code).toBe(124);
});

test("a file that is not JSON ends with its name; an unknown key is a warning", async () => {
  const bad = await inside(["run", "x.flow"], { cwd: project("{") });
  expect([bad.code, bad.stderr.includes("millrace.json is not JSON")]).toEqual([2, true]);
  const odd = await inside(["run", "x.flow"], { cwd: project('{ "flies": 1 }') });
  expect(odd.stderr).toContain('unknown key "flies" has no effect');
  const none = await inside(["run", "x.flow", "--config", "none.json"], { cwd: project("{}") });
  expect([none.code, none.stderr.includes("cannot read")]).toEqual([2, true]);
});

test("all values that do not fit are told at once, each with its place", async () => {
  const cwd = project(`{
  "serve": { "port": "80", "limits": { "maxRunMs": -1, "maxRumMs": 5 } },
  "egress": { "allow": "all" }
}`);
  const env = { MILLRACE_TRUST_PROJECT: "1", MILLRACE_HISTORY: "perhaps" };
  const told = await inside(["serve"], { cwd, env });
  const path = join(cwd, "millrace.json");
  expect([told.code, told.stdout]).toEqual([2, ""]);
  expect(told.stderr.split("\n")).toEqual([
    `warning: ${path}: unknown key "serve.limits.maxRumMs" has no effect; did you mean "serve.limits.maxRunMs"?`,
    `error: ${[
      "history takes true or false (MILLRACE_HISTORY)",
      `egress.allow takes a list (${path}:3)`,
      `serve.port takes a whole number up to 65535 (${path}:2)`,
      `serve.limits.maxRunMs takes a whole number from 1 up to 2147483647 (${path}:2)`,
    ].join("; ")}`,
    "",
  ]);
});

test("objects of the user's and the project's file merge by key, and the environment wins over both", async () => {
  const home = scratch({ "config.json": '{ "run": { "timeoutMs": 30 } }' });
  const cwd = scratch({ "x.flow": WAIT, "millrace.json": '{ "run": { "graceMs": 5 } }' });
  expect((await inside(["run", "x.flow", "--home", home], { cwd })).code).toBe(124);
  const env = { MILLRACE_RUN_TIMEOUT_MS: "20" };
  expect((await inside(["run", "x.flow"], { cwd, env })).code).toBe(124);
  const odd = await inside(["run", "x.flow"], { cwd, env: { MILLRACE_RUN_TIMEOUT_MS: "soon" } });
  expect([odd.code, odd.stderr]).toEqual([
    2,
    "error: run.timeoutMs takes a whole number (MILLRACE_RUN_TIMEOUT_MS)\n",
  ]);
});

test("a malformed file is named and never quoted", async () => {
  const told = await inside(["run", "x.flow"], { cwd: project('{ "token": canary-value }') });
  expect([told.code, told.stderr.includes("canary")]).toEqual([2, false]);
});

const PROGRAM = flow(
  "node version: shell.exec {",
  '  program = "node"',
  '  args = ["-p", "JSON.stringify([process.cwd(), process.env])"]',
  "}",
  "",
  "output told: string = version.stdout",
);

/** A project that allows this very Node, with more of the key `shell`. */
function allowing(shell: object): string {
  const config = JSON.stringify({ shell: { programs: { node: process.execPath }, ...shell } });
  const cwd = scratch({ "x.flow": PROGRAM, "millrace.json": config });
  mkdirSync(join(cwd, "work"));
  return cwd;
}

test("a flow starts the programs that a trusted project file allows, in its folder, with the variables it names", async () => {
  const cwd = allowing({ env: ["LANG"], cwdRoot: "work" });
  const refused = await inside(["run", "x.flow"], { cwd });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("it sets shell")]);
  const ran = await inside(["run", "x.flow"], { cwd, env: { MILLRACE_TRUST_PROJECT: "1" } });
  const [where, env] = JSON.parse((JSON.parse(ran.stdout) as { told: string }).told) as [
    string,
    Record<string, string>,
  ];
  expect(where).toBe(realpathSync(join(cwd, "work")));
  expect(Object.keys(env)).toEqual(process.env["LANG"] === undefined ? [] : ["LANG"]);
});

test("the user's own file allows programs without being trusted; where no file does, none starts", async () => {
  const cwd = scratch({ "x.flow": PROGRAM });
  const none = await inside(["run", "x.flow"], { cwd });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("capability_denied")]);
  const home = scratch({
    "config.json": JSON.stringify({ shell: { programs: { node: process.execPath } } }),
  });
  const ran = await inside(["run", "x.flow", "--home", home], { cwd });
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(realpathSync(cwd))]);
});

test.each([
  ["[]", "shell must be a JSON object"],
  ['{ "programs": { "git": "git" } }', 'shell.programs: "git" takes the whole path of a program'],
  ["{}", "shell.programs must be a JSON object"],
  ['{ "programs": {}, "env": "PATH" }', "shell.env takes a list"],
  ['{ "programs": {}, "cwdRoot": 1 }', "shell.cwdRoot takes text"],
  ['{ "program": {} , "programs": {} }', 'and no "program"'],
])("the key shell %s is refused with its fault", async (shell, fault) => {
  const cwd = scratch({ "x.flow": PROGRAM, "millrace.json": `{ "shell": ${shell} }` });
  const told = await inside(["run", "x.flow"], { cwd, env: { MILLRACE_TRUST_PROJECT: "1" } });
  expect([told.code, told.stderr]).toEqual([2, expect.stringContaining(fault)]);
});
