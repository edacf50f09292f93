/** Real servers with the page: in this process, or in one of their own that a test can kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@millrace/client";
import type { ServerOptions } from "@millrace/server";
import { serve } from "./serve.mjs";

/** Options of a server that are plain data. */
export type TestServerOptions = Omit<
  ServerOptions,
  "log" | "caller" | "onError" | "clock" | "studio" | "nodeTypes"
>;

/** A server that listens on loopback. */
export interface TestServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`; the page is at `/studio`. */
  readonly url: string;
  /** A client with the first token of the server, if it has any. */
  readonly client: Client;
}

/** A server in a process of its own. */
export interface ServerProcess extends TestServer {
  /** Ends the process at once, as a crash does. */
  kill(): Promise<void>;
  /** Tells the process to shut down, which it does when its live runs have ended. */
  drain(): void;
  /** Starts it again at the same address with the same data; options that are given replace those of before. */
  restart(changed?: TestServerOptions): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL("serve.mjs", import.meta.url));

/** Starts a server in this process, which takes a tenth of what a process takes; its data are gone when it is disposed. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { given, client, forget } = await prepare(options);
  const { url, close } = await serve({ port: 0, signals: false, ...given });
  return {
    url,
    client: client(url),
    async [Symbol.asyncDispose]() {
      await close({ graceMs: 0 });
      await forget();
    },
  };
}

/** Starts a server in a process of its own; its data are gone when it is disposed. */
export async function spawnServer(options: TestServerOptions = {}): Promise<ServerProcess> {
  const { given, client, forget } = await prepare(options);
  let { child, url } = await launch({ port: 0, ...given });
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  return {
    url,
    client: client(url),
    kill,
    drain: () => void child.kill("SIGTERM"),
    async restart(changed) {
      await kill();
      ({ child, url } = await launch({ ...given, ...changed, port: Number(new URL(url).port) }));
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await forget();
    },
  };
}

async function prepare(options: TestServerOptions) {
  const store = await mkdtemp(join(tmpdir(), "studio-"));
  const token = options.tokens?.[0]?.split(":").at(-1);
  return {
    given: { credentials: { store: "memory" }, models: false, ...options, store } as const,
    client: (url: string) => createClient({ url, ...(token !== undefined && { token }) }),
    forget: () => rm(store, { recursive: true, force: true }),
  };
}

async function launch(
  options: object,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { readonly url: string };
    return { child, url };
  }
  throw new Error(`the server did not start: ${complaint}`);
}
