/** A process of its own that works on a store: what it runs is bundled from the sources, beside the writer thread. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<unknown>;
}

/** What CommonJS packages in the bundle load Node's modules with. */
const REQUIRE =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Bundles a script, whose imports are found from `folder`, by default this one, and answers its path. */
export async function bundleScript(script: string, folder: string = HERE): Promise<string> {
  const root = createRequire(new URL("../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as Bundler;
  const cache = join(HERE, "../node_modules/.cache"); // below the package, where libsql is found
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, "child-"));
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
  const shared = {
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@millrace/source"],
    logLevel: "silent",
  };
  await build({
    ...shared,
    stdin: { contents: script, resolveDir: folder, loader: "ts" },
    splitting: true, // in one file, modules that import each other could run in the wrong order
    banner: { js: REQUIRE },
    outdir,
    entryNames: "child",
    outExtension: { ".js": ".mjs" },
  });
  await build({
    ...shared,
    entryPoints: [join(HERE, "../src/writer/writer-thread.js")],
    outfile: join(outdir, "writer-thread.js"),
  });
  return join(outdir, "child.mjs");
}

/** A child, its lines so far, and its end. */
export interface Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  readonly lines: string[];
  readonly exited: Promise<void>;
  /** Resolves when it has written so many lines; rejects when it ends before. */
  until(count: number): Promise<void>;
}

export function startChild(path: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  let errors = "";
  let isOver = false;
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  child.stdout.on("data", (data: Buffer) => {
    const parts = (rest + data.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const watch of watchers) watch();
  });
  const exited = new Promise<void>((done) => {
    child.once("close", () => {
      isOver = true;
      for (const watch of watchers) watch();
      done();
    });
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return {
    process: child,
    lines,
    exited,
    until: (count) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (lines.length >= count) resolve();
          else if (isOver)
            reject(new Error(`the child ended after ${lines.length} lines: ${errors}`));
          else return;
          watchers.delete(watch);
        };
        watchers.add(watch);
        watch();
      }),
  };
}
