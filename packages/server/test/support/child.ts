/** A server in a process of its own, bundled from the sources, which can be killed at any moment. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundleProgram } from "@millrace/test-support/program";
import { onTestFinished } from "vitest";

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
  bundled ??= bundleProgram(SCRIPT, import.meta.url);
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
