/** What is published: how big it is, what it needs, and whether its README tells the truth. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "@millrace/test-support/folder";
import { build } from "tsup";
import { describe, expect, onTestFinished, test } from "vitest";
import { readTarball } from "../../../scripts/tarball.mjs";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const PNPM = fileURLToPath(new URL("../../../node_modules/.bin/pnpm", import.meta.url));

/** Bytes of the main entry, bundled and minified; what a web page pays. */
const MAX_MINIFIED = 15_600; // 0.4 kB tell another spelling of an option; an error that comes with a status of success keeps its code
const MAX_GZIPPED = 6_300; // 0.2 kB of it are spellings of options; token answers as forms and lists of scopes came to it
/** The same of a program that imports `percentEncode` alone. */
const MAX_OF_ONE_FUNCTION = 500;

async function bundle(entry: string): Promise<string> {
  const outDir = temporaryFolder();
  await build({
    entry: { bundle: resolve(PACKAGE, entry) },
    outDir,
    config: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    silent: true,
    tsconfig: join(PACKAGE, "tsconfig.build.json"),
  });
  return readFileSync(join(outDir, "bundle.js"), "utf8");
}

describe("the main entry", () => {
  test("is small, and imports nothing", async () => {
    const code = await bundle("src/index.ts");
    expect(code.length).toBeLessThan(MAX_MINIFIED);
    expect(gzipSync(code).length).toBeLessThan(MAX_GZIPPED);
    expect(code).not.toMatch(/\bimport\b|\brequire\b|node:/);
  });

  test("what is published is shaken: a program pays for the functions that it imports", async () => {
    const program = join(temporaryFolder(), "program.js");
    const index = JSON.stringify(join(PACKAGE, "dist/index.js"));
    writeFileSync(program, `export { percentEncode } from ${index};`);
    expect((await bundle(program)).length).toBeLessThan(MAX_OF_ONE_FUNCTION);
  });

  test("the memory store imports nothing, either", async () => {
    expect(await bundle("src/store/memory.ts")).not.toMatch(/\bimport\b|\brequire\b|node:/);
  });
});

test("the tarball depends on nothing: what is native is optional", () => {
  const folder = temporaryFolder();
  const packed = execFileSync(PNPM, ["pack", "--json", "--pack-destination", folder], {
    cwd: PACKAGE,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { filename } = JSON.parse(packed) as { filename: string };
  const manifest = JSON.parse(String(readTarball(filename).get("package/package.json")));
  expect(Object.keys(manifest.dependencies ?? {})).toEqual([]);
  expect(Object.keys(manifest.optionalDependencies)).toEqual(["@napi-rs/keyring"]);
  expect(manifest.optionalDependencies["@napi-rs/keyring"]).toMatch(/^\d+\.\d+\.\d+$/);
  expect(Object.keys(manifest.peerDependencies)).toEqual(["keytar"]);
  expect(manifest.peerDependenciesMeta).toEqual({ keytar: { optional: true } });
  for (const script of ["preinstall", "install", "postinstall"]) {
    expect(manifest.scripts ?? {}).not.toHaveProperty(script);
  }
});

describe("the README", () => {
  const programs = [
    ...readFileSync(join(PACKAGE, "README.md"), "utf8").matchAll(/```js\n(.*?)```/gs),
  ];

  test("has programs", () => {
    expect(programs.length).toBeGreaterThan(0);
  });

  test.each(programs.map(([, code = ""]) => [code]))("runs as printed: %s", async (code) => {
    const child = spawn(process.execPath, ["--input-type=module"], { cwd: PACKAGE });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stdin.end(code);
    const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const promised = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, line]) => line);
    expect(complaint).toBe("");
    expect(output.trimEnd().split("\n")).toEqual(promised);
  });
});
