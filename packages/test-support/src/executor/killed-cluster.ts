/**
 * Servers that are killed and started again, one of them or many, and clients that do not give up: what was not answered is asked
 * again, what was read goes on where it stopped, at any server that serves.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChaosChild, KilledServer, type Life } from "./killed-server.ts";

export type Ask = (url: string, init?: RequestInit) => Promise<Response>;

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

export interface ClusterParts {
  /** Begins a process of the server with this number, from 0. */
  readonly spawn: (at: number) => ChaosChild;
  readonly servers: number;
  readonly ask: Ask;
  readonly random: () => number;
}

const RETRY_MS = 20; // a socket that the server had just closed
/** Answers of a server that cannot do it now, such as one that stops; another one, or the same one later, can. */
const UNAVAILABLE = 503;
/** A reader of many servers reads so many events at one of them, at most. */
const MAX_READ = 120;

export class KilledCluster {
  readonly servers: readonly KilledServer[];
  /** Rejects when a process ends by itself. */
  readonly failed: Promise<never>;
  readonly #ask: Ask;
  readonly #random: () => number;

  constructor({ spawn, servers, ask, random }: ClusterParts) {
    let lives = 0;
    const number = (): number => {
      lives += 1;
      return lives;
    };
    this.servers = Array.from(
      { length: servers },
      (_, at) => new KilledServer(() => spawn(at), number),
    );
    this.#ask = ask;
    this.#random = random;
    this.failed = Promise.race(this.servers.map(({ failed }) => failed));
    this.failed.catch(() => {});
  }

  get serving(): readonly KilledServer[] {
    return this.servers.filter(({ serving }) => serving !== undefined);
  }

  get slowestStartMs(): number {
    return Math.max(...this.servers.map((server) => server.slowestStartMs));
  }

  /** A life that serves, any of them, or the first that will. */
  async up(): Promise<Life> {
    const { serving } = this;
    const at = serving.length > 1 ? Math.floor(this.#random() * serving.length) : 0;
    return serving[at]?.serving ?? (await Promise.race(this.servers.map(({ up }) => up)));
  }

  /** Resolves when so many serve that one may be killed: of many, another one goes on. */
  async enough(): Promise<void> {
    const { servers } = this;
    const missing = (): readonly KilledServer[] =>
      servers.filter(({ serving }) => serving === undefined);
    while (servers.length - missing().length < Math.min(2, servers.length)) {
      await Promise.race(missing().map(({ up }) => up));
    }
  }

  async kill(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
  }

  /** Asks all processes to stop, one after the other, so that what one leaves goes to the next. */
  async stop(): Promise<void> {
    for (const server of this.servers) {
      await Promise.race([server.up, server.failed]); // one that starts does not listen to signals yet
      await server.stop();
    }
  }

  /** Asks until somebody answers. The request must be one that may come twice. */
  async call(
    method: string,
    path: string,
    { body, headers }: { readonly body?: unknown; readonly headers?: object } = {},
  ): Promise<Answer> {
    for (;;) {
      const { url } = await this.up();
      try {
        const response = await this.#ask(url + path, {
          method,
          headers: { "content-type": "application/json", ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const { status } = response;
        if (status !== UNAVAILABLE) return { status, body: text === "" ? null : JSON.parse(text) };
      } catch {
        // the server was killed, or is gone
      }
      await sleep(RETRY_MS);
    }
  }

  /** Frames of a stream, over as many lives as it takes; the caller leaves at the last. `lives` is told which. */
  async *frames(path: string, lives: Set<number>): AsyncGenerator<Frame, void> {
    let after = 0;
    for (;;) {
      const { number, url } = await this.up();
      let left = this.servers.length > 1 ? this.#random() * MAX_READ : Number.POSITIVE_INFINITY;
      try {
        const response = await this.#ask(url + path, { headers: { "last-event-id": `${after}` } });
        if (response.status !== UNAVAILABLE) {
          assert.equal(response.status, 200, `${path} is streamed`);
        }
        for await (const frame of framesOf(response)) {
          lives.add(number);
          yield frame;
          after = frame.id;
          left -= 1;
          if (left < 0) break;
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
      }
      await sleep(RETRY_MS);
    }
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
