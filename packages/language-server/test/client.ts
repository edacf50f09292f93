/** A client over streams of bytes, with a clock that the test moves. */
import { PassThrough } from "node:stream";
import { createLanguageServer, type ProjectFor, type Timers } from "@millrace/language-server";
import {
  createProtocolConnection,
  type ProtocolConnection,
} from "vscode-languageserver-protocol/node";
import { catalog } from "../../dsl/test/fixtures/catalog.ts";

/** Timers that wait until the test says so. */
export class TestTimers implements Timers {
  /** How much a look at the clock moves it. */
  step = 0;
  #now = 0;
  #waiting: { at: number; call: () => void }[] = [];

  now(): number {
    this.#now += this.step;
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call };
    this.#waiting.push(timer);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== timer);
    };
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#waiting.filter(({ at }) => at <= this.#now);
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#now);
    for (const { call } of due) call();
  }
}

/** A server with what it is given and what it says. */
export interface Served {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly timers: TestTimers;
  readonly ended: Promise<number>;
  readonly log: string[];
  /** What was written so far. */
  readonly written: Uint8Array[];
}

/** A server over streams. */
export function serve(projectFor: ProjectFor = () => catalog): Served {
  const input = new PassThrough();
  const output = new PassThrough();
  const timers = new TestTimers();
  const log: string[] = [];
  const written: Uint8Array[] = [];
  const { ended } = createLanguageServer({
    reader: input,
    writer: {
      write(bytes) {
        written.push(bytes);
        output.write(bytes);
      },
    },
    projectFor,
    timers,
    log: (line) => log.push(line),
  });
  return { input, output, timers, ended, log, written };
}

/** A client of the protocol's own library, initialized. */
export async function connect(
  served: Served,
  capabilities: object = {},
): Promise<ProtocolConnection> {
  const connection = createProtocolConnection(served.output, served.input);
  connection.listen();
  await connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities });
  await connection.sendNotification("initialized", {});
  return connection;
}
