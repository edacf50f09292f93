/** Words that are wrong end with 2 before anything is opened, made or asked. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { flow, inside, millrace } from "./inside.ts";

const LOG = flow("node a: log {", '  message = "hi"', "}");

test.each([
  [["confirm", "", "--approve"], "<run> is empty: id of the run"],
  [["init", ""], "[dir] is empty"],
  [["validate", "x.flow", ""], "<files...> is empty"],
  [["run", "x.flow", "--events", ""], '--events takes a file, found ""'],
  [["run", "x.flow", "--home", ""], '--home takes a folder, found ""'],
  [["init", "/proc/millrace"], "cannot write /proc/millrace/"],
  [["runs", "show", "-v-5"], "unknown option '--5'"],
  [["run", "x.flow", "-xi"], "unknown option '-xi'"],
  [["validate", "-q-x", "x.flow"], "unknown option '--x'"],
])("%j", async (words, message) => {
  const told = await inside(words, { files: { "x.flow": LOG } });
  expect([told.code, told.stdout, told.stderr]).toEqual([2, "", expect.stringContaining(message)]);
  expect(readdirSync(told.cwd)).toEqual(["x.flow"]);
});

test("a data folder that cannot be made is refused, and nothing waits for it", async () => {
  const words = ["templates", "save", "x", "x.flow", "--home", "/proc/millrace"];
  const told = await millrace(words, { cwd: scratch({ "x.flow": LOG }) });
  expect([told.code, told.stdout, told.stderr]).toEqual([
    6,
    "",
    expect.stringContaining("/proc/millrace"),
  ]);
});

test.each([
  ["run", "x.flow", "-xi", "--help"],
  ["validate", "-foo-bar", "--help"],
])("%s %s: help is shown after a word that is no option", async (...words) => {
  expect((await inside(words, { files: { "x.flow": LOG } })).code).toBe(0);
});

test("a negative number is an argument, and what follows it is read", async () => {
  const told = await inside(["validate", "-1e-5", "--json"]);
  expect(told.stdout).toContain('"kind":"summary"');
});

test("an empty value is a value where one may be empty", async () => {
  const words = ["config", "set", "server.url", "", "--user"];
  expect((await inside(words)).code).toBe(0);
});

test("a command that writes opens no store for words that are wrong", async () => {
  for (const [words, message] of [
    [["templates", "remove", "A B"], "slug must be a slug"],
    [["resume", "run_1", "--grace", "3"], "--grace takes a duration"],
    [["connect", "crm", "--port", "http"], "--port takes 0 to 65535"],
  ] as const) {
    const cwd = scratch();
    const env = { MILLRACE_HOME: join(cwd, "home") };
    const { code, stdout, stderr } = await millrace(words, { cwd, env });
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    expect(readdirSync(cwd)).toEqual([]);
  }
});
