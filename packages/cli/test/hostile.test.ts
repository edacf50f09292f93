/** Input that nobody meant: bytes, depths, lengths and names made to break the command. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { BIN, lastSummary, millrace, scratch } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const LOG = flow("node a: log {", '  message = "hi"', "}");
const KEY = `sk-${"a1B2c3D4".repeat(5)}`;

test("flags of every command may stand before it", async () => {
  const files = { "x.flow": LOG };
  const told = await inside(["--color", "never", "--json", "validate", "x.flow"], { files });
  expect([told.code, lastSummary(told.stdout).exitCode]).toEqual([0, 0]);
});

test("fmt never rewrites bytes that are not UTF-8", async () => {
  const cwd = scratch();
  const bytes = Buffer.concat([Buffer.from("flow 1 x\n# "), Buffer.from([0xff, 0xfe, 0x0a])]);
  writeFileSync(join(cwd, "x.flow"), bytes);
  const told = await inside(["fmt", "x.flow"], { cwd });
  expect([told.code, told.stderr.includes("FLOW0001")]).toEqual([3, true]);
  expect(readFileSync(join(cwd, "x.flow"))).toEqual(bytes);
});

test("fmt rewrites the file behind a link, and the link stays one", async () => {
  const cwd = scratch({ "real.flow": LOG.replace("  message", "message") });
  symlinkSync("real.flow", join(cwd, "x.flow"));
  expect((await inside(["fmt", "x.flow"], { cwd })).code).toBe(0);
  expect(lstatSync(join(cwd, "x.flow")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(cwd, "real.flow"), "utf8")).toBe(LOG);
});

test.each([
  ["validate", "-", "-"],
  ["fmt", "-", "-"],
])("%s reads stdin once", async (...words) => {
  const told = await inside(words, { stdin: LOG });
  expect([told.code, told.stderr]).toEqual([
    2,
    "error: only one thing can read stdin; name - once\n",
  ]);
});

test("what never ends is refused after 16 MiB", async () => {
  const told = await millrace(["validate", "/dev/zero", "--json"]);
  expect(lastSummary(told.stdout)).toMatchObject({
    exitCode: 2,
    error: { message: "/dev/zero is longer than 16777216 bytes" },
  });
});

test("a graph of 200,000 levels is invalid and no bug", async () => {
  const deep = (open: string, close: string) =>
    `{"version":1,"nodes":${open.repeat(200_000)}1${close.repeat(200_000)}}`;
  const files = { "a.json": deep("[", "]"), "b.json": deep('{"a":', "}") };
  for (const file of Object.keys(files)) {
    const told = await inside(["run", file, "--json"], { files });
    expect(lastSummary(told.stdout)).toMatchObject({ exitCode: 3, status: "invalid" });
  }
});

test.each([
  ["sigint", 130, ["run", "-"]],
  ["sigterm", 143, ["run", "-"]],
  ["sigint", 130, ["validate", "-"]],
  ["sigterm", 143, ["fmt", "-"]],
  ["sigint", 130, ["run", "x.flow", "-i", "name=@-"]],
] as const)("%s ends with %i while %j waits for its input", async (reason, code, words) => {
  const controller = new AbortController();
  const keys = new Readable({ read: () => controller.abort(reason) }); // and never anything to read
  const files = { "x.flow": flow("input name: string") };
  const told = await inside([...words, "--json"], { files, keys, signal: controller.signal });
  expect([told.code, lastSummary(told.stdout).status]).toEqual([code, "cancelled"]);
});

test("a secret found in a flow is not shown once more", async () => {
  const files = {
    "x.flow": flow(
      "node a: http.request {",
      '  url = "https://x.example/"',
      `  headers = { authorization: "Bearer ${KEY}" }`,
      "}",
    ),
  };
  const told = await inside(["validate", "x.flow"], { files });
  expect(told.stderr).toContain("FLOW6001");
  expect(told.stderr).not.toContain(KEY.slice(0, 10));
});

test.each([
  ['  message = "sk-live-Zq8vT3nLx0PbYw7RkMs2Hd5J', "sk-live"],
  ['  message = "ghp_Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9" +', "ghp_"],
  ["  api_key = 'Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa' x", "Zq8v"],
  ['  message = """\n    -----BEGIN PRIVATE KEY-----\n    Zq8vT3nLx0PbYw7R\n    """ x', "Zq8v"],
])("a secret on a line that cannot be read is not shown: %s", async (line, secret) => {
  const files = { "x.flow": flow("node a: log {", line, "}") };
  for (const words of [["validate"], ["run"], ["fmt", "--stdout"]]) {
    const told = await inside([...words, "x.flow"], { files });
    expect(told.code).toBe(3);
    expect(told.stderr).toContain("x.flow:");
    expect(told.stderr + told.stdout).not.toContain(secret);
  }
});

test("a finding far along an endless line shows its surroundings only", async () => {
  const files = {
    "x.flow": `flow 1 x\n\n# é ${"long ".repeat(20_000)}\nnode a: log { message = "${"y".repeat(50_000)}" nope = 1 }\n`,
  };
  const told = await inside(["validate", "x.flow"], { files });
  expect(told.code).toBe(3);
  expect(Math.max(...told.stderr.split("\n").map((line) => line.length))).toBeLessThan(400);
});

test("names of others reach the terminal without their escape sequences", async () => {
  const files = { "millrace.json": JSON.stringify({ "\u001b[2Jx": 1 }), "x.flow": LOG };
  const told = await inside(["run", "x.flow"], { files });
  expect([told.code, told.stderr.includes("\u001b"), told.stderr.includes("�[2Jx")]).toEqual([
    0,
    false,
    true,
  ]);
  const none = await inside(["run", "\u001b[2J.flow"], { files });
  expect([none.code, none.stderr.includes("\u001b")]).toEqual([2, false]);
});

test("a coloured tree on a narrow terminal is cut between characters, never inside a colour", async () => {
  const files = {
    "x.flow": flow(
      "node wide: fail {",
      '  message = "日本語のテキスト👨‍👩‍👧‍👦 and so on and so on"',
      "}",
    ),
  };
  const told = await inside(["run", "x.flow", "--color", "always"], {
    files,
    terminal: true,
    columns: 40,
  });
  const tree = told.stderr.slice(told.stderr.lastIndexOf("\u001b[0J") + 1).split("\n");
  const line = tree.find((each) => each.includes(" wide ")) ?? "";
  expect(line.endsWith("…\u001b[39m")).toBe(true);
});

test("ten thousand log lines on a terminal are a few writes", async () => {
  const files = {
    "x.flow": flow(
      "node each: map {",
      "  items = range(9000)",
      "  body {",
      "    node say: log {",
      '      message = "hi"',
      "    }",
      "",
      "    output = 1",
      "  }",
      "}",
    ),
  };
  const told = await inside(["run", "x.flow", "--color", "never"], { files, terminal: true });
  expect([told.code, told.writes < 300]).toEqual([0, true]);
  expect(told.stderr).toMatch(/✓ each {2}map .* 9000\/9000/);
});

test("a full disk beside a run is said, and the run goes on", async () => {
  const cwd = scratch({ "x.flow": LOG });
  const told = await millrace(["run", "x.flow", "--json", "--events", "/dev/full"], { cwd });
  expect([told.code, told.stderr]).toEqual([
    0,
    "warning: /dev/full is not complete: no space left on the device\n",
  ]);
});

test("a reader that begins after the run has ended gets every line, and memory stays small", async () => {
  const cwd = scratch({
    "x.flow": flow(
      "node each: map {",
      "  items = range(5000)",
      "  body {",
      "    node say: log {",
      `      message = "${"0123456789".repeat(1_000)}"`,
      "    }",
      "",
      "    output = 1",
      "  }",
      "}",
    ),
  });
  const file = join(cwd, "all.ndjson");
  const words = ["--max-old-space-size=48", BIN, "run", "x.flow", "--json", "--events", file];
  const child = spawn(process.execPath, words, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await vi.waitUntil(() => existsSync(file) && tail(file).includes('"kind":"summary"'), 60_000);
  const read = createHash("sha256");
  for await (const chunk of child.stdout) read.update(chunk as Buffer);
  const written = createHash("sha256").update(readFileSync(file));
  expect(read.digest("hex")).toBe(written.digest("hex"));
});

/** The last bytes of a file. */
function tail(file: string): string {
  const opened = openSync(file, "r");
  const bytes = Buffer.alloc(2_000);
  const read = readSync(opened, bytes, 0, bytes.length, Math.max(0, statSync(file).size - 2_000));
  closeSync(opened);
  return bytes.toString("latin1", 0, read);
}
