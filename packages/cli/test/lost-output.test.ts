/** What is written to stdout arrives whole, or the command says that it did not: exit code 74. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { parseEvent } from "@millrace/contracts";
import { notLinux, testUnless } from "@millrace/test-support";
import { expect, test } from "vitest";
import { loadCommands } from "../src/argv/spec.ts";
import { NOUNS } from "../src/commands/index.ts";
import { BIN, type Ended, scratch } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const LOG = flow("node a: log {", '  message = "hi"', "}", "", 'output x: string = "y"');
const MESSAGE =
  "error: cannot write to stdout: no space left on the device; its output is not complete\n";

/** A disk without room: it takes nothing, and knows whether it was asked. */
function fullDisk(code = "ENOSPC"): { readonly stdout: Writable; asked: boolean } {
  const disk = {
    asked: false,
    stdout: new Writable({
      write(_chunk, _encoding, done) {
        disk.asked = true;
        done(Object.assign(new Error(code), { code }));
      },
    }),
  };
  return disk;
}

/** Words that make a command write to stdout in a folder with a project; every other one is asked for its help alone. */
const WORDS: { readonly [command: string]: string } = {
  run: "run x.flow",
  validate: "validate x.flow --json",
  fmt: "fmt x.flow --stdout",
  graph: "graph x.flow",
  diff: "diff x.flow y.flow",
  explain: "explain",
  test: "test x.flow --json",
  completion: "completion zsh",
  doctor: "doctor --json",
  replay: "replay log.ndjson --json",
  resume: "resume run_x --json",
  init: "init new --json",
  invoke: "invoke get_meta",
  "runs list": "runs list --json",
  "templates list": "templates list --json",
  "schedule list": "schedule list --json",
  "hubs list": "hubs list --json",
  "connections list": "connections list --json",
  "catalog list": "catalog list",
  "catalog show": "catalog show map",
  "services list": "services list --json",
  "config list": "config list",
  "config get": "config get flows",
  "config explain": "config explain",
  "config path": "config path",
  "config schema": "config schema",
};

test("every command that stdout takes nothing of ends with 74 and says why", {
  timeout: 240_000, // a hundred command lines
}, async () => {
  const files = { "x.flow": LOG, "y.flow": LOG.replace("hi", "ho"), "millrace.json": "{}" };
  const cwd = scratch(files);
  const log = await inside(["run", "x.flow", "--json"], { cwd });
  writeFileSync(join(cwd, "log.ndjson"), log.stdout);
  const commands = await loadCommands(NOUNS);
  const names = commands.map(({ path }) => path.join(" "));
  for (const name of Object.keys(WORDS)) expect(names).toContain(name);
  for (const { path } of commands) {
    const name = path.join(" ");
    for (const words of [`${name} --help`, WORDS[name]]) {
      if (words === undefined) continue;
      const disk = fullDisk();
      const told = await inside(words.split(" "), { cwd, stdout: disk.stdout });
      expect([words, disk.asked, told.code]).toEqual([words, true, 74]);
      expect([words, told.stderr.endsWith(MESSAGE)]).toEqual([words, true]);
    }
  }
});

test("a reader that has left loses nothing: text and queries end with 0, a run with 1, and nothing is said", async () => {
  const cwd = scratch({ "x.flow": LOG });
  for (const [words, code] of [
    ["explain", 0],
    ["graph x.flow", 0],
    ["config schema", 0],
    ["run x.flow --json", 1],
  ] as const) {
    const gone = fullDisk("EPIPE");
    const told = await inside(words.split(" "), { cwd, stdout: gone.stdout });
    expect([words, gone.asked, told.code, told.stderr]).toEqual([words, true, code, ""]);
  }
});

/** The command with its stdout in a file. */
function toFile(
  words: readonly string[],
  file: string,
  cwd: string,
): Promise<Omit<Ended, "stdout">> {
  const stdout = openSync(file, "w");
  const child = spawn(words[0] as string, words.slice(1), {
    cwd,
    env: { PATH: process.env["PATH"], HOME: cwd, XDG_CONFIG_HOME: cwd, XDG_DATA_HOME: cwd },
    stdio: ["ignore", stdout, "pipe"],
  });
  closeSync(stdout);
  let stderr = "";
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stderr })),
  );
}

testUnless(notLinux)(
  "the same is true of the program, also where nothing is loaded and where the disk takes a part",
  async () => {
    const long = Array.from({ length: 200 }, (_, n) => `node n${n}: log {\n  message = "hi"\n}\n`);
    const cwd = scratch({ "x.flow": `flow 1 x\n\n${long.join("\n")}` });
    for (const words of ["--version", "completion bash", "graph x.flow", "run x.flow --json"]) {
      const told = await toFile([process.execPath, BIN, ...words.split(" ")], "/dev/full", cwd);
      expect([words, told.code, told.stderr.includes("cannot write to stdout")]).toEqual([
        words,
        74,
        true,
      ]);
    }
    // The system takes what is below the limit of the shell and says so only at the next write.
    const limited = `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`;
    const words = ["sh", "-c", limited, process.execPath, BIN, "graph", "x.flow"];
    const told = await toFile(words, join(cwd, "part.mmd"), cwd);
    expect([told.code, told.stderr]).toEqual([
      74,
      expect.stringContaining("cannot write to stdout"),
    ]);
  },
);

const MANY = `flow 1 many

input text: string

node all: map {
  items = range(0, 10000)
  @concurrency = 16
  body {
    node a: transform {
      value = { n: index, text: inputs.text }
    }
    output = a.value.n
  }
}

output n: int = all.count
`;

function seqs(lines: readonly string[]): { readonly kinds: Set<string>; readonly gaps: number[] } {
  const events = lines.map((line) => parseEvent(line));
  return {
    kinds: new Set(events.map(({ kind }) => kind)),
    gaps: events.flatMap(({ seq }, at) => (seq === at + 1 ? [] : [seq])),
  };
}

test("10,000 items of 1 KB to a file are every line of the log", async () => {
  const text = "x".repeat(1_000);
  const cwd = scratch({ "many.flow": MANY, "in.json": JSON.stringify({ text }) });
  const file = join(cwd, "out.ndjson");
  const words = ["run", "many.flow", "--input-json", "in.json", "--json"];
  const told = await toFile([process.execPath, BIN, ...words], file, cwd);
  expect([told.code, told.stderr]).toEqual([0, ""]);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const { kinds, gaps } = seqs(lines);
  expect([lines.length > 20_000, gaps, kinds.has("snapshot")]).toEqual([true, [], false]);
  expect(lines.at(-1)).toContain('"kind":"summary"');
});

test("a slow reader of 25 MB gets every line", async () => {
  const text = "x".repeat(2_300);
  const files = { "many.flow": MANY, "in.json": JSON.stringify({ text }) };
  const chunks: string[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      setTimeout(done, 1);
    },
  });
  const words = ["run", "many.flow", "--input-json", "in.json", "--json"];
  const told = await inside(words, { files, stdout: slow });
  const lines = chunks.join("").trimEnd().split("\n");
  const { kinds, gaps } = seqs(lines);
  expect(chunks.join("").length).toBeGreaterThan(25_000_000);
  expect([told.code, gaps, kinds.has("snapshot")]).toEqual([0, [], false]);
});
