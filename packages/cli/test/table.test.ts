/** The table of commands: every line that help shows is a line that runs. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArguments } from "../src/argv/parse.ts";
import { loadCommands } from "../src/argv/spec.ts";
import { NOUNS } from "../src/commands/index.ts";
import { example, scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const SHOWN = await loadCommands(NOUNS);

/** The words of a line as a shell reads them, without what it redirects. */
function words(line: string): string[] {
  const [command = ""] = line.split(/ [<>|] /);
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)]
    .slice(1)
    .map(([, single, double, plain]) => single ?? double ?? plain ?? "");
}

const lines = SHOWN.flatMap(({ path, examples }) =>
  examples.map(({ line }) => ({ path: path.join(" "), line })),
);

test("every command has a summary that fits a line, and an example", () => {
  for (const { path, summary, examples } of SHOWN) {
    const name = path.join(" ");
    expect([name, summary.length <= 72, summary.endsWith(".")]).toEqual([name, true, false]);
    expect(examples.length, name).toBeGreaterThan(0);
  }
  const paths = SHOWN.map(({ path }) => path.join(" "));
  expect(new Set(paths).size).toBe(paths.length);
});

test("the overview says of each word what its commands are", () => {
  for (const { name, says, hidden } of NOUNS) {
    if (hidden) continue;
    const commands = SHOWN.filter(({ path }) => path[0] === name);
    const [{ path, summary } = { path: [], summary: "" }] = commands;
    const actions = commands.map(({ path }) => path[1]).join(", ");
    expect([name, says]).toEqual([name, path.length === 1 ? summary : actions]);
  }
});

test("no flag is the negation of another, and none takes a secret", () => {
  for (const { path, flags } of SHOWN) {
    const names = flags.map(({ long }) => long);
    const wrong = names.filter(
      (name) => names.includes(`no-${name}`) || /password|api-?key$/.test(name),
    );
    expect([path.join(" "), wrong]).toEqual([path.join(" "), []]);
  }
});

test("every example line of help is words of its command", async () => {
  for (const { path, line } of lines) {
    const parsed = await parseArguments(words(line));
    expect(parsed, line).toMatchObject({ kind: "command" });
    if (parsed.kind === "command")
      expect([line, parsed.command.path.join(" ")]).toEqual([line, path]);
  }
});

/** What ends otherwise than in 0 in a world with nothing but a project. */
const CODES: { readonly [line: string]: number } = {
  "millrace backup backup.db": 6,
  "millrace config unset run.timeoutMs --user": 0,
};
const HERE = [
  ...["validate", "fmt", "graph", "diff", "explain", "test"],
  ...["init", "new", "doctor", "backup", "completion", "config"],
];
const LOCAL = SHOWN.filter(({ path }) => HERE.includes(path[0]) && path[1] !== "login").flatMap(
  ({ examples }) => examples.map(({ line }) => line),
);

test("every example line about flows, a project and this installation runs as it stands", async () => {
  const cwd = scratch({ "millrace.json": "{}" });
  const hello = example("01-hello");
  const { cpSync } = await import("node:fs");
  cpSync(join(hello, "hello.flow"), join(cwd, "hello.flow"));
  mkdirSync(join(cwd, "examples"));
  cpSync(hello, join(cwd, "examples/01-hello"), {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  const env = { MILLRACE_CREDENTIALS_STORE: "memory" };
  for (const line of LOCAL) {
    const told = await inside(words(line), { cwd, env });
    expect([line, told.code, told.stderr]).toEqual([line, CODES[line] ?? 0, told.stderr]);
  }
});

test.each([
  [["valdate", "x.flow"], "unknown command 'valdate'; did you mean validate?"],
  [["config", "lst"], "unknown command 'config lst'; did you mean list?"],
  [["validate", "x.flow", "--stict"], "unknown option '--stict'; did you mean --strict?"],
  [["--jsn"], "unknown option '--jsn'; did you mean --json?"],
  [["--json"], "a command is missing; millrace --help lists them"],
  [
    ["config"],
    "config needs an action: list, get, set, unset, explain, path, schema, trust, login",
  ],
  [["xyzzyxyzzy"], "unknown command 'xyzzyxyzzy'"],
  [["graph", "x.flow", "-f", "pdf"], '--format takes mermaid, dot, svg or json, found "pdf"'],
  [
    ["hubs", "add", "https://x.example", "--provides", "models", "--provides", "evil"],
    '--provides takes templates, nodes or models, found "evil"',
  ],
  [
    ["validate"],
    "it needs <files...>: files or folders; - for stdin; millrace validate --help shows them",
  ],
])("%j is exit code 2, with the word that is meant", async (given, says) => {
  const told = await inside(given);
  const summary = given.includes("--json") && given.length === 1;
  expect([told.code, summary || told.stdout === "", told.stderr]).toEqual([
    2,
    true,
    `error: ${says}\n`,
  ]);
});

test("help of every command fits 80 columns, and its flags stand before those of all", async () => {
  for (const { path, flags } of SHOWN) {
    const { stdout } = await inside([...path, "--help"]);
    const long = stdout.split("\n").filter((line) => line.length > 80);
    expect([path.join(" "), long]).toEqual([path.join(" "), []]);
    const heads = stdout.match(/^(?:Flags|Every command|Examples):$/gm);
    expect(heads).toEqual([...(flags.length > 0 ? ["Flags:"] : []), "Every command:", "Examples:"]);
  }
});

test("help is shown for everything, a group and a command, also by the word help", async () => {
  const all = await inside(["--help"]);
  expect(all.stdout).toContain("  config  ");
  for (const given of [
    ["config", "--help"],
    ["help", "config"],
  ]) {
    expect((await inside(given)).stdout).toContain("Usage: millrace config <action> [flags]");
  }
  for (const given of [
    ["config", "set", "--help"],
    ["help", "config", "set"],
  ]) {
    expect((await inside(given)).stdout).toContain(
      "Usage: millrace config set [flags] <key> <value>",
    );
  }
});
