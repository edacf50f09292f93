/** Completion: the scripts are of the table, shells can read them, and values come without a network. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "@millrace/store";
import { expect, test } from "vitest";
import { BIN, scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const DIST = fileURLToPath(new URL("../dist/completion/", import.meta.url));
const SHELLS = ["bash", "zsh", "fish"] as const;

/** Whether there is such a shell; those that are missing are named in the report. */
function has(shell: string): boolean {
  return spawnSync(shell, ["-c", "exit 0"]).status === 0;
}

test.each(SHELLS)("the script of %s that is built is the one of the table", async (shell) => {
  const { stdout, code } = await inside(["completion", shell]);
  expect(code).toBe(0);
  expect(readFileSync(join(DIST, shell), "utf8")).toBe(stdout);
});

for (const shell of SHELLS) {
  test.skipIf(!has(shell))(`${shell} can read its script`, () => {
    const { status, stderr } = spawnSync(shell, ["-n", join(DIST, shell)], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
}

test.skipIf(!has("bash"))("bash completes commands, actions, flags, choices and values", () => {
  const asks = [
    ["gra"],
    ["config", "un"],
    ["graph", "--for"],
    ["graph", "-f", "s"],
    ["init", "--template", "hel"],
    ["graph", "-o", ""],
    ["run", ""],
  ];
  const script = [
    `millrace() { ${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)} "$@"; }`,
    `source ${JSON.stringify(join(DIST, "bash"))}`,
    ...asks.map((words) => {
      const list = ["millrace", ...words].map((word) => JSON.stringify(word)).join(" ");
      return `COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _millrace; echo "\${COMPREPLY[*]}"`;
    }),
  ];
  const { stdout, stderr } = spawnSync("bash", ["-c", script.join("\n")], { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n").slice(0, 5)).toEqual([
    "graph",
    "unset",
    "--format",
    "svg",
    "hello",
  ]);
  expect(stdout.split("\n").slice(5, 7)).toEqual(["", ""]);
});

test.each([
  [["ini"], ["init"]],
  [
    ["config", ""],
    ["list", "get", "set", "unset", "explain", "path", "schema", "trust", "login"],
  ],
  [
    ["config", "get", "run."],
    ["run.timeoutMs", "run.graceMs"],
  ],
  [["graph", "--format", "m"], ["mermaid"]],
  [["init", "--template", "csv"], ["csv-report"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["validate", "--str"], ["--strict"]],
  [["nothing", "at", "all"], []],
  [["validate", "x"], []],
])("__complete %j", async (words, expected) => {
  const told = await inside(["__complete", "--", ...words]);
  expect([told.code, told.stderr]).toEqual([0, ""]);
  expect(told.stdout.split("\n").filter((line) => line !== "")).toEqual(expected);
});

test("a store that is damaged or not there has nothing to offer, and nothing fails", async () => {
  const { VALUES } = await import("../src/completion/dynamic.ts");
  const home = scratch({ "millrace.db": "no database" });
  const io = { env: { MILLRACE_HOME: home }, cwd: home } as never;
  await expect(VALUES.run(io)).rejects.toThrow();
  expect(await VALUES.run({ env: { MILLRACE_HOME: scratch() }, cwd: home } as never)).toEqual([]);
});

test("templates of the store are values", async () => {
  const { VALUES } = await import("../src/completion/dynamic.ts");
  const home = scratch();
  await (await openStore({ dir: home })).close();
  const io = { env: { MILLRACE_HOME: home }, cwd: home } as never;
  expect([await VALUES.template(io), await VALUES.run(io)]).toEqual([[], []]);
});

test("hidden commands are neither in help nor in a script", async () => {
  expect((await inside(["--help"])).stdout).not.toContain("__");
  expect((await inside(["completion", "zsh"])).stdout).not.toContain('"__');
});
