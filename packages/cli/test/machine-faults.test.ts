/** What a machine may put in the way: bytes that are no text, folders, places nobody may write to, narrow terminals, a keyboard. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const LOG = flow("input name: string", "", "node a: log {", "  message = inputs.name", "}");
// biome-ignore lint/suspicious/noControlCharactersInRegex: of a terminal
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;
const BYTES = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));

/** Everything that reads what a person names. */
const READERS = [
  "run ./X",
  "validate X",
  "fmt X",
  "graph ./X",
  "diff X x.flow",
  "diff x.flow X",
  "replay ./X",
  "services import X",
  "run x.flow --input-json X",
  "run x.flow --config X",
  "run x.flow --fixtures ./X -i name=a",
  "runs list --server http://127.0.0.1:1 --token-file X",
  "confirm run_1 --approve --value-json X",
];

test.each([
  ["a file that is not there", "none", [2]],
  ["a folder", "folder", [2]],
  ["bytes that are no text", "bytes", [1, 2, 3, 6]],
  ["no bytes at all", "empty", [0, 1, 2, 3, 6]],
])("%s is told by its name, and is no bug", async (_what, name, codes) => {
  const cwd = scratch({ "x.flow": LOG, empty: "" });
  mkdirSync(join(cwd, "folder"));
  writeFileSync(join(cwd, "bytes"), BYTES);
  for (const words of READERS) {
    if (words.includes("--fixtures") && name === "folder") continue; // which is what it takes
    const told = await inside(words.replace("X", name).split(" "), { cwd });
    expect(codes, `${words}: ${told.stderr}`).toContain(told.code);
    if (told.code > 1) expect(told.stderr, words).toMatch(new RegExp(`${name}|127.0.0.1:1`));
  }
  expect(readFileSync(join(cwd, "bytes"))).toEqual(BYTES);
});

test.each([
  ["graph x.flow -o /proc/x/x.svg", "/proc/x/x.svg"],
  ["run x.flow -i name=a --events /proc/x.ndjson", "/proc/x.ndjson"],
  ["config set run.graceMs 1 --user --home /proc/x", "/proc/x/config.json"],
  ["init /proc/x", "/proc/x/millrace.json"],
])("where nobody may write, %s ends with 2", async (words, path) => {
  const told = await inside(words.split(" "), { files: { "x.flow": LOG } });
  const message = `error: cannot write ${path}: there is no such folder\n`;
  expect([told.code, told.stdout, told.stderr]).toEqual([2, "", message]);
});

test("a terminal of 20 columns wraps no line of a tree", async () => {
  const text = "日本語のテキスト and so on and so on";
  const files = {
    "x.flow": flow("node wide-name-of-a-node: fail {", `  message = "${text}"`, "}"),
  };
  const words = ["run", "x.flow", "--color", "never"];
  const told = await inside(words, { files, terminal: true, columns: 20 });
  const screen = told.stderr.slice(told.stderr.lastIndexOf("\u001b[0J") + 1);
  const tree = screen
    .replaceAll(ESCAPES, "")
    .split("\n")
    .filter((row) => /^ {2}[✓✗●○]/.test(row));
  expect(tree.length, screen).toBeGreaterThan(0);
  for (const row of tree) expect(stringWidth(row), row).toBeLessThanOrEqual(20);
});

test("a flow that is typed is waited for with a word", async () => {
  const keys = Readable.from([flow("node a: log {", '  message = "hi"', "}")]);
  const told = await inside(["validate", "-"], { terminal: true, keys });
  expect([told.code, told.stderr.split("\n")[0]]).toEqual([
    0,
    "reads the keyboard; Ctrl-D ends it",
  ]);
});

test("a test whose flow wants an input says where it is given, and keeps its events apart", async () => {
  const cwd = scratch({ "millrace.json": "{}" });
  mkdirSync(join(cwd, "flows"));
  writeFileSync(join(cwd, "flows/a.flow"), LOG);
  const wants = await inside(["test", "flows/a.flow", "--update"], { cwd });
  expect([wants.code, wants.stderr]).toEqual([
    1,
    expect.stringContaining("the input name is required; inputs.json in"),
  ]);
  writeFileSync(join(cwd, "flows/a.flow"), LOG.replace("string", 'string = "Ada"'));
  expect((await inside(["test", "flows/a.flow", "--update"], { cwd })).code).toBe(0);
  expect(existsSync(join(cwd, "fixtures/a/golden.ndjson"))).toBe(true);
  expect((await inside(["test", "flows"], { cwd })).stderr).toBe("✓ flows/a.flow\n1 test passed\n");
});
