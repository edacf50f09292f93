/** A server in a process of its own, bundled from the sources, which can be killed at any moment. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<unknown>;
}
interface Resolving {
  readonly path: string;
  readonly kind: string;
  readonly resolveDir: string;
  readonly pluginData?: unknown;
}
interface PluginBuild {
  onResolve(
    filter: { readonly filter: RegExp },
    resolve: (args: Resolving) => Promise<object | undefined>,
  ): void;
  resolve(path: string, options: object): Promise<{ readonly path: string }>;
}

const HERE = fileURLToPath(new URL(".", import.meta.url));
const STORE = join(HERE, "../../../store");

/** Packages of others stay where they are: only what is ours is bundled. */
const OTHERS = {
  name: "others",
  setup(build: PluginBuild): void {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === OTHERS || path.startsWith("@millrace/") || path.startsWith("node:")) {
        return undefined;
      }
      const found = await build.resolve(path, { kind, resolveDir, pluginData: OTHERS });
      return { path: found.path, external: true };
    });
  },
};

/** What a child runs; `process.argv[2]` is its data folder, `[3]` its options as JSON. */
const SCRIPT = `
import { Worker } from "node:worker_threads";
import { start } from "@millrace/server";
const { postMessage } = Worker.prototype;
let writer;
Worker.prototype.postMessage = function (...args) { writer = this; return postMessage.apply(this, args); };
const server = await start({ port: 0, store: process.argv[2], ...JSON.parse(process.argv[3]),
  credentials: { store: "memory" } });
process.on("message", () => void writer.terminate());
console.log(server.url);
`;

let bundled: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const root = createRequire(new URL("../../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as Bundler;
  const cache = join(STORE, "node_modules/.cache"); // below the package, where libsql is found
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "server-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const outdir = join(dir, "src");
  writeFileSync(join(dir, "package.json"), '{ "version": "0.0.0", "type": "module" }');
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
    plugins: [OTHERS],
    stdin: { contents: SCRIPT, resolveDir: HERE, loader: "ts" },
    outfile: join(outdir, "server.js"),
  });
  await build({
    ...shared,
    entryPoints: [join(STORE, "src/writer/writer-thread.js")],
    outfile: join(outdir, "writer-thread.js"),
  });
  return join(outdir, "server.js");
}

/** A server that listens, in a process that ends with its test. */
export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Exit code and signal. */
  readonly ended: Promise<readonly [number | null, string | null]>;
  /** What it has written to its log. */
  readonly log: readonly string[];
  /** Kills it without a word, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a server on a data folder. Rejects with its log when it does not come to listen. */
export async function spawnServer(dir: string, options: object = {}): Promise<ServerProcess> {
  bundled ??= bundle();
  const child = spawn(process.execPath, [await bundled, dir, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const log: string[] = [];
  createInterface(child.stderr as NodeJS.ReadableStream).on("line", (line) => log.push(line));
  const listening = once(createInterface(child.stdout as NodeJS.ReadableStream), "line");
  const [url] = (await Promise.race([listening, ended])) as [unknown];
  if (typeof url !== "string") throw new Error(`the server did not start: ${log.join("\n")}`);
  return {
    url,
    child,
    ended,
    log,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
