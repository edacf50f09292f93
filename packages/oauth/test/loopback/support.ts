/** Listeners that end with their test, and browsers made of bare sockets. */
import { connect, type Socket } from "node:net";
import { OAuthError } from "@millrace/oauth";
import { acceptOAuthCode, bindLoopback, type LoopbackListener } from "@millrace/oauth/loopback";
import { expect, onTestFinished } from "vitest";

export const STATE = "the-state";

export type Options = Partial<Parameters<typeof acceptOAuthCode>[1]>;

/** What became of a wait; both kinds of end are values, so that a test may look at the page first. */
export type End = { readonly code: string } | { readonly error: unknown };

export async function listen(port?: number | readonly number[]): Promise<LoopbackListener> {
  const listener = await bindLoopback(port);
  onTestFinished(() => listener.close());
  return listener;
}

/** A listener, and a wait on it. */
export async function asked(options: Options = {}) {
  const listener = await listen();
  return { listener, wanted: wait(listener, options) };
}

/** Waits with the usual state and without a timeout. */
export function wait(listener: LoopbackListener, options: Options = {}): Promise<End> {
  return acceptOAuthCode(listener, {
    state: STATE,
    timeoutMs: Number.POSITIVE_INFINITY,
    ...options,
  }).then(
    (code) => ({ code }),
    (error: unknown) => ({ error }),
  );
}

/** The error of a wait that failed the way this package fails. */
export function failureOf(end: End): OAuthError {
  if (!("error" in end) || !OAuthError.isInstance(end.error)) {
    throw new Error(`not an OAuthError: ${JSON.stringify(end)}`);
  }
  return end.error;
}

/** A connected socket whose errors are nobody's business. */
export async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return socket;
}

/** A connected socket, and all that it will have been told. */
export async function talk(port: number) {
  const socket = await open(port);
  return { socket, answer: received(socket) };
}

/** Everything that the other side writes until it ends, as Latin-1. */
export function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.once("end", () => {
      resolve(text);
      socket.end();
    });
    socket.once("close", () => resolve(text));
  });
}

/** Sends these bytes on a socket of their own and gives the whole answer; "" when there was none. */
export async function send(
  port: number,
  ...segments: readonly (string | Uint8Array)[]
): Promise<string> {
  const { socket, answer } = await talk(port);
  for (const segment of segments) await write(socket, segment);
  return answer;
}

/** Writes one segment; the receiver, which shares our event loop, has read it when this resolves. */
export async function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  socket.setNoDelay(true);
  await new Promise((resolve) =>
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, resolve),
  );
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate); // accepted, then read
}

/** A GET as browsers send it. */
export const get = (target: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n\r\n`;

export const statusOf = (answer: string): number =>
  Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

/** Another listener can have the port. */
export async function expectFree(port: number): Promise<void> {
  const again = await bindLoopback(port);
  expect(again.port).toBe(port);
  await again.close();
}
