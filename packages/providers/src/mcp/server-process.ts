/**
 * A server of the Model Context Protocol as a child of this process, one JSON message a line. It is the transport of the
 * protocol's client, in place of the client's own, which leaves behind what a server has started.
 *   S1  The child sees the minimal variables, those given, and nothing else; no shell is between us and it.
 *   S2  It leads a process group; when it is closed, its whole group is gone, at the latest after END_MS twice.
 *   S3  Its error output is kept for error messages, up to a limit, and is not printed.
 *   S4  A line that is not a message ends the connection.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { sleep } from "@millrace/contracts/kit";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";

const END_MS = 2_000; // for the end of the input, and again for SIGTERM
const VANISH_MS = 1_000; // a killed process needs a turn of the scheduler to end
const LOOK_EVERY_MS = 10; // nothing tells it
const KEPT_STDERR_BYTES = 8_192;
const MAX_LINE_BYTES = 16 * 1024 * 1024; // as a message on any other wire of ours

export interface ServerStart {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the minimal variables. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
}

/** Reason why a connection ended that was not closed from here. */
export type ProcessFault =
  | { readonly kind: "exited"; readonly how: string }
  | { readonly kind: "protocol" };

export class ServerProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #start: ServerStart;
  #child: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();
  #ending: Promise<void> | null = null;
  #stderr: Buffer = Buffer.alloc(0);
  #line: Buffer[] = [];
  #lineBytes = 0;
  /** Set before `onclose` is called. */
  fault: ProcessFault | null = null;

  constructor(start: ServerStart) {
    this.#start = start;
  }

  /** The last of what it wrote to its error output. */
  get stderr(): string {
    return this.#stderr.toString("utf8");
  }

  /** Rejects when the program cannot be started. */
  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#start;
    const child = spawn(command, args, {
      cwd,
      env: { ...getDefaultEnvironment(), ...env },
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    this.#child = child;
    const callOff = guard(child.pid as number);
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        callOff();
        this.fault ??= { kind: "exited", how: signal ?? `code ${code}` };
        signalGroup(child, "SIGKILL"); // what it has started and left behind
        resolve();
      });
    });
    child.once("close", () => this.onclose?.());
    child.on("error", () => {}); // a signal that could not be sent
    child.stdin?.on("error", () => {}); // its end tells the same
    child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-KEPT_STDERR_BYTES);
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const { stdin } = this.#child ?? {};
      if (!stdin?.writable) reject(new Error("the server takes no more messages"));
      else if (stdin.write(serializeMessage(message))) resolve();
      else stdin.once("drain", resolve);
    });
  }

  /** Ends the child and its group. Resolves when they are gone; may be called more than once. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    child.stdin?.end();
    if (!(await within(this.#exited, END_MS))) {
      signalGroup(child, "SIGTERM");
      if (!(await within(this.#exited, END_MS))) signalGroup(child, "SIGKILL");
      await this.#exited;
    }
    await vanished(child.pid as number);
    // A grandchild that has left the group may hold these open.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.fault !== null) return; // nothing is kept of what comes until it is gone
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#line.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#line).toString("utf8").trim();
      this.#line = [];
      this.#lineBytes = 0;
      from = at + 1;
      if (line !== "") this.#receive(line);
    }
    if (from === chunk.length) return;
    this.#line.push(chunk.subarray(from));
    this.#lineBytes += chunk.length - from;
    if (this.#lineBytes > MAX_LINE_BYTES) this.#fail();
  }

  #receive(line: string): void {
    if (this.fault !== null) return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.#fail();
      return;
    }
    this.onmessage?.(message);
  }

  #fail(): void {
    if (this.fault !== null) return;
    this.fault = { kind: "protocol" };
    this.#line = [];
    this.#lineBytes = 0;
    this.onclose?.(); // at once: the child may take its time to end
    void this.close();
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-(child.pid as number), signal);
  } catch {
    // nobody is left
  }
}

/** Waits, with a short limit, until a killed group has no process left: init may reap late. */
async function vanished(group: number): Promise<void> {
  if (process.platform === "win32") return;
  for (let waited = 0; waited < VANISH_MS; waited += LOOK_EVERY_MS) {
    try {
      process.kill(-group, 0);
    } catch {
      return;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Whether `done`, which never rejects, comes within `ms` milliseconds. */
export async function within(done: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const inTime = await Promise.race([done.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

/** Waits for the end of its input, then as `end` of `ServerProcess` does: patience, SIGTERM, patience, SIGKILL. */
const SCRIPT =
  'read -r _; sleep 2; kill -s TERM -- "-$1" || exit 0; sleep 2; kill -s KILL -- "-$1"';

/**
 * Starts a watcher that outlives this process: should we be killed without a word, it ends the group of a server that does not end
 * by itself when its input does. It holds one pipe of ours; the end of that pipe is the sign. The answer calls the watcher off.
 * Does nothing on Windows, which has no groups.
 */
function guard(group: number): () => void {
  if (process.platform === "win32") return () => {};
  const watcher: ChildProcess = spawn("/bin/sh", ["-c", SCRIPT, "sh", String(group)], {
    detached: true, // a signal of the terminal is not meant for it
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  watcher.on("error", () => {}); // a system without a shell has no watcher
  watcher.stdin?.on("error", () => {});
  watcher.unref();
  return () => {
    watcher.kill("SIGKILL");
    watcher.stdin?.destroy();
  };
}
