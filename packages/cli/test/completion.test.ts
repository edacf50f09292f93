/** Completion: the scripts are of the table, shells can read them, and values come without a network. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseFlow } from "@millrace/dsl";
import { openStore } from "@millrace/store";
import { testWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { BIN, scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const DIST = fileURLToPath(new URL("../dist/completion/", import.meta.url));
const SHELLS = ["bash", "zsh", "fish"] as const;

test.each(SHELLS)("the script of %s that is built is the one of the table", async (shell) => {
  const { stdout, code } = await inside(["completion", shell]);
  expect(code).toBe(0);
  expect(readFileSync(join(DIST, shell), "utf8")).toBe(stdout);
});

for (const shell of SHELLS) {
  testWith(shell)(`${shell} can read its script`, () => {
    const { status, stderr } = spawnSync(shell, ["-n", join(DIST, shell)], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
}

/** What cannot be told in time is not told: a person presses the key again, and so does a test on a busy machine. */
const AGAIN = { timeout: 30_000, interval: 100 };

/** What bash offers for each line of words. */
function bash(lines: readonly (readonly string[])[], { cwd = ".", home = "" } = {}): string[] {
  const script = [
    `millrace() { ${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)} "$@"; }`,
    `source ${JSON.stringify(join(DIST, "bash"))}`,
    ...lines.map((words) => {
      const list = ["millrace", ...words].map((word) => JSON.stringify(word)).join(" ");
      return `COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _millrace; echo "\${COMPREPLY[*]}"`;
    }),
  ];
  const env = { PATH: process.env["PATH"], ...(home !== "" && { MILLRACE_HOME: home }) };
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script.join("\n")], {
    encoding: "utf8",
    cwd,
    env,
  });
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
}

testWith("bash")("bash completes commands, actions, flags, choices and values", async () => {
  const asks = [
    ["gra"],
    ["config", "un"],
    ["graph", "--for"],
    ["graph", "-f", "s"],
    ["init", "--template", "hel"],
    ["graph", "-o", ""],
    ["run", ""],
  ];
  const home = scratch();
  await expect
    .poll(() => bash(asks, { home }), AGAIN)
    .toEqual(["graph", "unset", "--format", "svg", "hello"]);
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
  const stdout = expected.map((word) => `${word}\n`).join("");
  await expect
    .poll(() => inside(["__complete", "--", ...words]), AGAIN)
    .toMatchObject({ code: 0, stderr: "", stdout });
});

test("a store that is damaged or not there has nothing to offer, and nothing fails", async () => {
  const home = scratch({ "millrace.db": "no database" });
  for (const dir of [home, scratch()]) {
    const { code, stdout, stderr } = await inside(["__complete", "--", "--home", dir, "run", ""]);
    expect([code, stdout, stderr]).toEqual([0, "", ""]);
  }
});

/** Stores a template in this data folder. */
async function keep(slug: string, home: string): Promise<void> {
  const dsl = "flow 1 x\n";
  const { graph } = parseFlow(dsl);
  const about = { slug, name: slug, description: "", tags: [], source: { kind: "local" } } as const;
  const store = await openStore({ dir: home });
  await store.templates.save({ ...about, dsl, graph, digest: "sha256:0" }, null);
  await store.close();
}

test("templates of the store are values, of the data folder that --home names", async () => {
  const home = scratch();
  await keep("weekly-report", home);
  const given = { cwd: home, env: { HOME: join(home, "..") } };
  const tilde = `~/${basename(home)}`;
  for (const words of [
    ["--home", home, "run", "week"],
    ["run", "--home", home, ""],
    [`--home=${home}`, "--json", "graph", ""],
    ["--home", "=", home, "templates", "show", "w"], // as bash splits it
    ["--home", tilde, "schedule", "add", "--template", ""],
  ]) {
    await expect
      .poll(() => inside(["__complete", "--", ...words], given), AGAIN)
      .toMatchObject({ stdout: "weekly-report\n" });
  }
  expect((await inside(["__complete", "--", "run", ""], given)).stdout).toBe("");
});

testWith("bash")(
  "bash offers templates beside files, and reads flags before a command",
  async () => {
    const home = scratch({ "week.flow": "" });
    await keep("weekly-report", home);
    const asks = [
      ["run", "week"],
      ["--json", "runs", "ta"],
      ["--home", ".", "config", "un"],
      ["--home", "=", ".", "gra"],
      ["--ver"],
      ["--color", "al"],
    ];
    const offered = ["weekly-report week.flow", "tail", "unset", "graph"];
    await expect
      .poll(() => bash(asks, { cwd: home, home }), AGAIN)
      .toEqual([...offered, "--verbose --version", "always"]);
  },
);

test("hidden commands are neither in help nor in a script", async () => {
  expect((await inside(["--help"])).stdout).not.toContain("__");
  expect((await inside(["completion", "zsh"])).stdout).not.toContain('"__');
});
