/**
 * A server in a process of its own that is killed and started again, and clients that do not give up: what was not answered
 * is asked again, what was read goes on where it stopped.
 */
import assert from "node:assert/strict";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** The process, with a pipe for its standard output, where it writes its address and a line end once it serves. */
export type ChaosChild = ChildProcessByStdio<null, Readable, Readable | null>;

/** `fetch` of the caller. */
export type Ask = (url: string, init?: RequestInit) => Promise<Response>;

/** One life of the server. */
export interface Life {
  /** 1, 2, 3 … */
  readonly number: number;
  readonly url: string;
}

/** An answer; `body` is read as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** One event as a stream carried it. */
export interface Frame {
  readonly id: number;
  readonly data: string;
}

const RETRY_MS = 20; // a socket that the server had just closed

export class KilledServer {
  readonly #spawn: () => ChaosChild;
  readonly #ask: Ask;
  #child: ChaosChild | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #lives = 0;
  #isWanted = false;
  #serves = false;
  #up: Promise<Life> = Promise.resolve({ number: 0, url: "" });
  #tellUp: (life: Life) => void = () => {};
  #fail: (error: Error) => void = () => {};
  /** Rejects when the process ends by itself. */
  readonly failed: Promise<never>;

  constructor(spawn: () => ChaosChild, ask: Ask) {
    this.#spawn = spawn;
    this.#ask = ask;
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

  /** Of the life that was begun last. */
  get life(): number {
    return this.#lives;
  }

  /** Whether it has told its address, in this life. */
  get serves(): boolean {
    return this.#serves;
  }

  /** Begins a life; `up` resolves when it serves. */
  begin(): void {
    this.#lives += 1;
    const number = this.#lives;
    const tellUp = this.#tellUp;
    const child = this.#spawn();
    this.#child = child;
    this.#isWanted = true;
    let line = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (line.endsWith("\n")) return;
      line += text;
      if (!line.endsWith("\n") || number !== this.#lives) return;
      this.#serves = true;
      tellUp({ number, url: line.trim() });
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
    if (this.#serves) this.#await(); // who waits for a life that never served waits for the next one
    this.#serves = false;
    this.#child?.kill("SIGKILL");
    await this.#exited;
  }

  /** Asks the process to stop; rejects when it does not end well. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#child?.kill("SIGTERM");
    assert.equal(await this.#exited, 0, "the server stops when it is told to");
  }

  /** Asks until somebody answers. The request must be one that may come twice. */
  async call(
    method: string,
    path: string,
    { body, headers }: { readonly body?: unknown; readonly headers?: object } = {},
  ): Promise<Answer> {
    for (;;) {
      const { url } = await this.#up;
      try {
        const response = await this.#ask(url + path, {
          method,
          headers: { "content-type": "application/json", ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, body: text === "" ? null : JSON.parse(text) };
      } catch {
        await sleep(RETRY_MS);
      }
    }
  }

  /** Frames of a stream, over as many lives as it takes; the caller leaves at the last. `lives` is told which. */
  async *frames(path: string, lives: Set<number>): AsyncGenerator<Frame, void> {
    let after = 0;
    for (;;) {
      const { number, url } = await this.#up;
      try {
        const response = await this.#ask(url + path, { headers: { "last-event-id": `${after}` } });
        assert.equal(response.status, 200, `${path} is streamed`);
        for await (const frame of framesOf(response)) {
          lives.add(number);
          yield frame;
          after = frame.id;
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
      }
      await sleep(RETRY_MS);
    }
  }

  #await(): void {
    this.#up = new Promise((resolve) => {
      this.#tellUp = resolve;
    });
  }
}

/** Whole frames; one that was cut is as if it had not been sent. */
async function* framesOf(response: Response): AsyncGenerator<Frame, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const frames = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    for (const text of frames) {
      const data = /^data: (.*)$/m.exec(text)?.[1];
      const id = /^id: (\d+)$/m.exec(text)?.[1];
      if (data !== undefined && id !== undefined) yield { id: Number(id), data };
    }
  }
}
