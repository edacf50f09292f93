/** A server in a process of its own that is killed and started again. */
import assert from "node:assert/strict";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";

/** The process, with a pipe for its standard output, where it writes its address and a line end once it serves. */
export type ChaosChild = ChildProcessByStdio<null, Readable, Readable | null>;

export interface Life {
  /** 1, 2, 3 …, over all servers. */
  readonly number: number;
  readonly url: string;
}

export class KilledServer {
  readonly #spawn: () => ChaosChild;
  readonly #number: () => number;
  #child: ChaosChild | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #life = 0;
  #isWanted = false;
  #serving: Life | undefined;
  #up: Promise<Life> = Promise.resolve({ number: 0, url: "" });
  #tellUp: (life: Life) => void = () => {};
  #fail: (error: Error) => void = () => {};
  /** Rejects when the process ends by itself. */
  readonly failed: Promise<never>;
  /** From the begin of its slowest life to its address. */
  slowestStartMs = 0;

  constructor(spawn: () => ChaosChild, number: () => number) {
    this.#spawn = spawn;
    this.#number = number;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
    this.#await();
  }

  /** The life that serves, or will. */
  get up(): Promise<Life> {
    return this.#up;
  }

  /** The life that has told its address, while it lasts. */
  get serving(): Life | undefined {
    return this.#serving;
  }

  /** Begins a life; `up` resolves when it serves. */
  begin(): void {
    const begunAt = performance.now();
    const number = this.#number();
    this.#life = number;
    const tellUp = this.#tellUp;
    const child = this.#spawn();
    this.#child = child;
    this.#isWanted = true;
    let line = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (line.endsWith("\n")) return;
      line += text;
      if (!line.endsWith("\n") || number !== this.#life) return;
      this.#serving = { number, url: line.trim() };
      this.slowestStartMs = Math.max(this.slowestStartMs, performance.now() - begunAt);
      tellUp(this.#serving);
    });
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        if (this.#isWanted) this.#fail(new Error(`the server ended by itself: ${code ?? signal}`));
        resolve(code);
      });
    });
  }

  /** Ends the life with SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    if (this.#serving !== undefined) this.#await(); // who waits for a life that never served waits for the next one
    this.#serving = undefined;
    this.#child?.kill("SIGKILL");
    await this.#exited;
  }

  /** Asks the process to stop; rejects when it does not end well. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#serving = undefined;
    this.#child?.kill("SIGTERM");
    assert.equal(await this.#exited, 0, "the server stops when it is told to");
  }

  #await(): void {
    this.#up = new Promise((resolve) => {
      this.#tellUp = resolve;
    });
  }
}
