/**
 * The sockets of one receiver, and the lines that they sent.
 *   A1  Lines come out in the order in which they were complete, also those from before anybody asked.
 *   A2  At most MAX_SOCKETS wait for an answer; one that says nothing goes before one that spoke.
 *   A3  What follows a line is read and thrown away: unread bytes would reset the connection under the page.
 */
import type { Socket } from "node:net";
import type { ArrivedLine } from "./redirect.ts";

/** Bytes of a request that are read. @see specification, "Limits" */
const MAX_LINE_BYTES = 4_096;
/** Sockets at once: browsers open some that stay silent, and nothing on this machine needs more. */
const MAX_SOCKETS = 64;
/** Time limit for sending an answer to a client that no longer reads. */
const FLUSH_MS = 500;

const LINE_FEED = 0x0a;

export interface Arrival extends ArrivedLine {
  readonly socket: Socket;
}

/** Where sockets come in and lines go out. */
export class Arrivals {
  readonly #silent = new Set<Socket>();
  readonly #lines: Arrival[] = [];
  #wake: (() => void) | undefined;
  #ended: { readonly reason: unknown } | undefined;

  /** Takes a socket; over the limit the oldest silent one goes, or this one when all have spoken. */
  add(socket: Socket): void {
    socket.on("error", () => {}); // a reset ends in "close" like everything else
    socket.on("close", () => this.#silent.delete(socket));
    if (this.#ended !== undefined) return void socket.destroy();
    if (this.#silent.size + this.#lines.length >= MAX_SOCKETS) {
      const [oldest = socket] = this.#silent;
      oldest.destroy();
      if (oldest === socket) return;
      this.#silent.delete(oldest);
    }
    this.#silent.add(socket);
    readLine(socket, (arrived) => {
      if (!this.#silent.delete(socket)) return;
      if (arrived === undefined) return void socket.destroy();
      this.#lines.push({ ...arrived, socket });
      this.#wake?.();
    });
  }

  /** The next line; rejects with the reason of `end`. */
  async next(): Promise<Arrival> {
    for (;;) {
      if (this.#ended !== undefined) throw this.#ended.reason;
      const arrival = this.#lines.shift();
      if (arrival !== undefined) return arrival;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Drops every socket that has no answer yet; only the first reason counts. */
  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    for (const socket of this.#silent) socket.destroy();
    for (const { socket } of this.#lines.splice(0)) socket.destroy();
    this.#wake?.();
  }
}

/** Sends an answer; resolves when the system has it, or its reader is gone, or after FLUSH_MS. */
export function sendAnswer(socket: Socket, answer: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    const timer = setTimeout(() => socket.destroy(), FLUSH_MS);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.write(answer, () => resolve());
    socket.end();
  });
}

/** Calls `done` once: with the line, or with nothing when the socket ended and had sent nothing. */
function readLine(socket: Socket, done: (line: ArrivedLine | undefined) => void): void {
  let bytes = Buffer.alloc(0);
  const finish = (length: number, cut: boolean): void => {
    socket.off("data", onData);
    socket.off("end", onEnd);
    socket.resume();
    done({ line: bytes.toString("latin1", 0, length), cut });
  };
  const onData = (chunk: Buffer): void => {
    const seen = bytes.length;
    bytes = Buffer.concat([bytes, chunk.subarray(0, MAX_LINE_BYTES - seen)]);
    const feed = bytes.indexOf(LINE_FEED, seen);
    if (feed >= 0) finish(feed, false);
    else if (bytes.length === MAX_LINE_BYTES) finish(MAX_LINE_BYTES, true);
  };
  const onEnd = (): void => {
    if (bytes.length > 0) finish(bytes.length, true);
    else done(undefined);
  };
  socket.on("data", onData);
  socket.on("end", onEnd);
}
