/**
 * One program from start to end.
 *   C1  It leads a process group of its own; when it has ended or is aborted, what is left of the group ends too.
 *   C2  Its output is read to the end, so that it never blocks, and kept up to a limit.
 *   C3  The promise settles when program and group are gone, at the latest after the kill: nothing of it is left behind.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { AbortSignalLike, SpawnEnd } from "@millrace/contracts";
import { notStarted } from "./failures.ts";
import { ProcessGroup } from "./group.ts";

/** The program to start. */
interface Start {
  readonly program: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
}

/** Runs the program to its end. Throws `spawn_failed`, and the reason of the signal. */
export async function runChild(
  start: Start,
  options: {
    readonly stdin: string | undefined;
    readonly maxBytes: number;
    readonly signal: AbortSignalLike | undefined;
    /** Holds the group of the program while it may be there. */
    readonly groups: Set<ProcessGroup>;
  },
): Promise<SpawnEnd> {
  const { stdin, maxBytes, signal, groups } = options;
  if (isAborted(signal)) throw signal?.reason;
  const { child, group } = await startChild(start, stdin !== undefined);
  groups.add(group);
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (code, endedBy) => resolve([code, endedBy]));
  });
  const stdout = new Kept(maxBytes);
  const stderr = new Kept(maxBytes);
  child.stdout?.on("data", (chunk: Buffer) => stdout.add(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
  child.stdin?.on("error", () => {}); // a program need not read its input
  child.stdin?.end(stdin);
  const onAbort = (): void => group.end();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (isAborted(signal)) onAbort();
  const [exitCode, endedBy] = await exited;
  signal?.removeEventListener("abort", onAbort);
  const aborted = isAborted(signal);
  await group.gone();
  groups.delete(group);
  if (aborted) throw signal?.reason;
  return {
    exitCode,
    signal: endedBy,
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    truncated: stdout.truncated || stderr.truncated,
  };
}

function isAborted(signal: AbortSignalLike | undefined): boolean {
  return signal?.aborted === true;
}

async function startChild(
  start: Start,
  feeds: boolean,
): Promise<{ readonly child: ChildProcess; readonly group: ProcessGroup }> {
  try {
    const child = spawn(start.path, start.args, {
      cwd: start.cwd,
      env: start.env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [feeds ? "pipe" : "ignore", "pipe", "pipe"],
    });
    const started = new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    if (child.pid === undefined) await started; // it rejects: nothing was started
    const group = new ProcessGroup(child);
    await started;
    child.on("error", () => {}); // a signal that could not be sent
    return { child, group };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw notStarted(`${start.program} could not be started: ${code ?? "the system refused it"}`);
  }
}

/** The first bytes of a stream. */
class Kept {
  readonly #chunks: Uint8Array[] = [];
  #left: number;
  truncated = false;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  add(chunk: Uint8Array): void {
    if (chunk.length > this.#left) this.truncated = true;
    if (this.#left === 0) return;
    const kept = chunk.subarray(0, this.#left);
    this.#left -= kept.length;
    this.#chunks.push(kept);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }
}
