/** Bytecode that the command keeps for its next start: what is taken, what is not, and that no start depends on it. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { notLinux, testUnless } from "@millrace/test-support";
import { describe, expect, test } from "vitest";
import { BIN, type Ended, millrace, scratch } from "./cli.ts";

const HELLO = fileURLToPath(new URL("../../../examples/01-hello/hello.flow", import.meta.url));

/** The folder of the command inside the folder that the variable names; Node may have one of its own beside it. */
function folderIn(base: string): string {
  const [name = "none", ...others] = readdirSync(base).filter((name) =>
    name.startsWith("millrace-"),
  );
  expect(others).toEqual([]);
  return join(base, name);
}

/** Digest of each file that is kept, by name. */
function kept(base: string): Record<string, string> {
  const folder = folderIn(base);
  const digest = (name: string): string =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
  return Object.fromEntries(readdirSync(folder).map((name) => [name, digest(name)]));
}

async function hello(base: string, env: Record<string, string> = {}): Promise<Ended> {
  const ended = await millrace(["run", HELLO], { env: { NODE_COMPILE_CACHE: base, ...env } });
  expect(ended).toMatchObject({ code: 0 });
  expect(JSON.parse(ended.stdout)).toEqual({ text: "Hello, world!" });
  return ended;
}

test("the first start of a command writes its bytecode, and the second takes it as it is", async () => {
  const base = scratch();
  const inodes = (): number[] =>
    Object.keys(kept(base)).map((name) => statSync(join(folderIn(base), name)).ino);
  await hello(base);
  const [first, written] = [kept(base), inodes()];
  expect(Object.keys(first).join()).toContain("run-language-");
  expect(folderIn(base)).toContain(`-${process.version}-${process.arch}-`);
  await hello(base);
  expect(kept(base)).toEqual(first);
  expect(inodes()).toEqual(written);
});

test("each command has bytecode of its own, and a start that fails leaves none", async () => {
  const base = scratch();
  const cwd = scratch({ "wrong.flow": "flow 1 wrong\n\nnode a: nothing {\n}\n" });
  const env = { NODE_COMPILE_CACHE: base };
  for (const words of [["frobnicate"], ["run", "wrong.flow"]]) {
    const { code } = await millrace(words, { cwd, env });
    expect(code).toBeGreaterThan(0);
    expect(kept(base)).toEqual({});
  }
  await millrace(["validate", HELLO], { env });
  const names = Object.keys(kept(base));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !name.startsWith("validate-"))).toEqual([]);
});

test("a start that needs one file more writes all of them again", async () => {
  const base = scratch();
  await hello(base);
  const engine = Object.entries(kept(base)).find(([name]) => name.startsWith("run-engine-"));
  await millrace(["run", HELLO, "--save"], { env: { NODE_COMPILE_CACHE: base } });
  expect(engine).toBeDefined();
  expect(kept(base)[engine?.[0] ?? ""]).not.toBe(engine?.[1]);
});

test("help of a command has bytecode beside that of the command", async () => {
  const base = scratch();
  await millrace(["run", "--help"], { env: { NODE_COMPILE_CACHE: base } });
  const names = Object.keys(kept(base));
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !name.startsWith("help-"))).toEqual([]);
});

/** The program of an install at another path, whose files are copies or a link to the same files. */
function installed(files: "copied" | "linked"): string {
  const [folder, cli] = [scratch(), dirname(dirname(BIN))];
  for (const part of ["bin", "package.json"])
    cpSync(join(cli, part), join(folder, part), { recursive: true });
  symlinkSync(join(cli, "node_modules"), join(folder, "node_modules"), "junction");
  if (files === "linked") symlinkSync(join(cli, "dist"), join(folder, "dist"), "junction");
  else cpSync(join(cli, "dist"), join(folder, "dist"), { recursive: true });
  return join(folder, "bin", "millrace.js");
}

/** Paths of the files of dist that a start runs, as V8 names them in stack traces. */
function pathsOf(bin: string, words: readonly string[], base: string): string[] {
  const reports = scratch();
  const env = { ...process.env, NODE_COMPILE_CACHE: base, NODE_V8_COVERAGE: reports };
  spawnSync(process.execPath, [bin, ...words], { env });
  const urls = readdirSync(reports).flatMap((name) => {
    const text = readFileSync(join(reports, name), "utf8");
    return (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url);
  });
  return urls.filter((url) => url.endsWith(".cjs")).map((url) => fileURLToPath(url));
}

test("stack traces name the files of the install that runs, not of the one that wrote the bytecode", async () => {
  const base = scratch();
  await hello(base);
  const bin = installed("copied");
  const dist = join(dirname(dirname(realpathSync(bin))), "dist");
  const paths = pathsOf(bin, ["run", HELLO], base);
  expect(new Set(paths.map(dirname))).toEqual(new Set([dist]));
});

test("a file runs once, also where the folder of the files is a link", () => {
  const paths = pathsOf(installed("linked"), ["services", "list"], scratch());
  const files = paths.map((path) => realpathSync(path));
  expect(files.length).toBeGreaterThan(3);
  expect(files).toEqual([...new Set(files)]);
});

test.each<[what: string, spoil: (bytes: Buffer, other: Buffer) => Buffer]>([
  ["in which a byte differs", (bytes) => Buffer.from(bytes).fill(0xa5, 5_000, 5_008)],
  ["that ends too soon", (bytes) => bytes.subarray(0, bytes.length >> 1)],
  ["that is empty", () => Buffer.alloc(0)],
  ["of another file", (_bytes, other) => other],
])("bytecode %s is made anew", async (_what, spoil) => {
  const base = scratch();
  await hello(base);
  const folder = folderIn(base);
  const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).size > 10_000);
  const right = names.map((name) => readFileSync(join(folder, name)));
  const spoilt = right.map((bytes, at) => spoil(bytes, right.at(at - 1) ?? bytes));
  for (const [at, name] of names.entries()) writeFileSync(join(folder, name), spoilt[at] ?? "");
  const before = kept(base);
  await hello(base);
  const mended = kept(base);
  expect(names.filter((name) => mended[name] === before[name])).toEqual([]);
  await hello(base);
  expect(kept(base)).toEqual(mended);
});

test("starts at the same moment leave whole files", async () => {
  const base = scratch();
  await Promise.all(Array.from({ length: 4 }, () => hello(base)));
  const all = kept(base);
  expect(Object.keys(all).filter((name) => !name.endsWith(".cjs"))).toEqual([]);
  await hello(base);
  expect(kept(base)).toEqual(all);
});

describe("nothing is kept, and the command runs", () => {
  test.each(["1", "true"])("where the variable says so, by %j", async (value) => {
    const base = scratch();
    await hello(base, { NODE_DISABLE_COMPILE_CACHE: value });
    expect(readdirSync(base)).toEqual([]);
  });

  test("in a folder below the current one, which may be a project of others", async () => {
    const cwd = scratch();
    await millrace(["run", HELLO], { cwd, env: { NODE_COMPILE_CACHE: "cache" } });
    expect(readdirSync(cwd, { recursive: true }).join()).not.toContain("millrace-");
  });

  test("where no folder can be made", async () => {
    const base = scratch({ file: "" });
    const { stderr } = await hello(join(base, "file"));
    expect(stderr).not.toMatch(/error|EEXIST|ENOTDIR/);
  });

  test("where the folder becomes a file before the end", async () => {
    const base = scratch({
      "replace.mjs": `import { readdirSync, rmSync, writeFileSync } from "node:fs";
process.on("exit", () => {
  const base = process.env.NODE_COMPILE_CACHE + "/";
  const [name] = readdirSync(base).filter((name) => name.startsWith("millrace-"));
  rmSync(base + name, { recursive: true });
  writeFileSync(base + name, "");
});
`,
    });
    const replace = pathToFileURL(join(base, "replace.mjs"));
    const { stderr } = await hello(base, { NODE_OPTIONS: `--import=${replace}` });
    expect(readFileSync(folderIn(base), "utf8")).toBe("");
    expect(stderr).not.toContain("ENOTDIR");
  });

  testUnless(notLinux)("in a folder where others can write", async () => {
    const base = scratch();
    await hello(base);
    const folder = folderIn(base);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    await hello(base);
    expect(kept(base)).toEqual({});
  });
});
