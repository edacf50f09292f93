/**
 * One process of a runner, from its start to its end.
 *   P1  `ended` resolves once, however the process ends; `ready` resolves at most once, before it.
 *   P2  A process that is not ready in time is killed, and so is one that sends an invalid message.
 *   P3  The token is made here and goes over the channel alone.
 */
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { ModelClock } from "../settings.ts";
import { noteProcess } from "./orphans.ts";

const TOKEN_BYTES = 32;
const TAIL_BYTES = 16 * 1024; // of the output of the process, for the error
const MAX_PORT = 65_535;

/** Starts `runner.js` with a channel and with stdout and stderr as pipes. */
export type ForkRunner = () => ChildProcess;

/** Variables that the engine and the system's loader read; whatever else this process has, such as keys, stays here. */
const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "TEMP", "SystemRoot", "USERPROFILE"];

export const forkRunner: ForkRunner = () =>
  fork(fileURLToPath(new URL("./runner.js", import.meta.url)), [], {
    env: Object.fromEntries(PASSED.map((name) => [name, process.env[name]])),
    execArgv: [],
    serialization: "json",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });

/** The first message to the process, besides its token. */
export interface RunnerRequest {
  readonly modelPath: string;
  readonly threads: number;
  readonly contextSize: number;
  readonly gpu: false;
  readonly embedding: boolean;
  /** `file:` URL of the engine. */
  readonly engine: string;
}

/** The end of a process. `failure`: its own message, or the fault that was found. */
export interface RunnerEnd {
  readonly signal: string | null;
  readonly exitCode: number | null;
  readonly failure: string | null;
  /** The end of its output; for logs, never for events. */
  readonly tail: string;
}

/** A process that loads a model or has it. */
export interface RunnerProcess {
  readonly pid: number;
  readonly ready: Promise<{ readonly baseUrl: string; readonly token: string }>;
  readonly ended: Promise<RunnerEnd>;
  /** Ends it at once: it has nothing to save. */
  kill(): void;
}

/** Starts a process and gives it its model. Throws what `fork` throws. */
export function startRunner(
  request: RunnerRequest,
  options: {
    readonly fork: ForkRunner;
    /** Where the process is noted; null: a manager that may not write notes nothing. */
    readonly dir: string | null;
    readonly model: string;
    readonly timeoutMs: number;
    readonly clock: ModelClock;
  },
): RunnerProcess {
  const { fork, dir, model, timeoutMs, clock } = options;
  const child = fork();
  const { pid } = child;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const forget = pid === undefined || dir === null ? () => {} : noteProcess(dir, pid, model);
  const tail = keepTail(child);
  let failure: string | null = null;
  const fail = (text: string) => {
    failure ??= text;
    child.kill("SIGKILL");
  };
  const cancelTimer = clock.setTimer(() => fail(`it was not ready in ${timeoutMs} ms`), timeoutMs);
  const ready = new Promise<{ baseUrl: string; token: string }>((resolve) => {
    child.once("message", (message) => {
      cancelTimer();
      const { port, failed } = (message ?? {}) as {
        readonly port?: unknown;
        readonly failed?: { readonly message?: unknown };
      };
      if (failed !== undefined) fail(String(failed?.message ?? "the engine failed"));
      else if (!isPort(port)) fail("it answered what no runner says");
      else resolve({ baseUrl: `http://127.0.0.1:${port}/v1`, token });
    });
  });
  const ended = new Promise<RunnerEnd>((resolve) => {
    const end = (exitCode: number | null, signal: string | null) => {
      cancelTimer();
      forget();
      resolve({ exitCode, signal, failure, tail: tail() });
    };
    child.on("error", () => {
      failure ??= "the process could not be started";
      if (pid === undefined) end(null, null);
    });
    child.once("exit", end);
  });
  // An error of sending to an ended process is ignored; its end is reported.
  child.send({ ...request, token }, () => {});
  return { pid: pid ?? 0, ready, ended, kill: () => void child.kill("SIGKILL") };
}

function isPort(port: unknown): port is number {
  return Number.isInteger(port) && Number(port) > 0 && Number(port) <= MAX_PORT;
}

function keepTail({ stdout, stderr }: ChildProcess): () => string {
  let kept = Buffer.alloc(0);
  for (const stream of [stdout, stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      kept = Buffer.concat([kept, chunk]).subarray(-TAIL_BYTES);
    });
  }
  return () => kept.toString("utf8");
}
