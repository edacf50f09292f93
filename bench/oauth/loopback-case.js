// The end of a consent: from the last byte of the redirect's line until the code is there. The baseline is a byte to a bare
// server and back. Either has a server and a connection of its own for each sample.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { acceptOAuthCode, bindLoopback } from "@millrace/oauth/loopback";

const CODE = "code-of-the-bench";
const STATE = "s".repeat(43);
const LINE = `GET /callback?code=${CODE}&state=${STATE} HTTP/1.1`;

async function open(port) {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** Waits until what was sent before has been read on the other side. */
const quiet = () => new Promise((go) => setTimeout(go, 2));

async function echo() {
  const server = createServer((socket) => socket.on("data", (bytes) => socket.write(bytes)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = await open(server.address().port);
  socket.write(LINE);
  await once(socket, "data");
  await quiet();
  const back = once(socket, "data");
  const from = performance.now();
  socket.write("\n");
  await back;
  const ms = performance.now() - from;
  const closed = once(server, "close");
  server.close();
  socket.destroy();
  await closed;
  return ms;
}

async function consent() {
  const listener = await bindLoopback();
  const accepted = acceptOAuthCode(listener, { state: STATE, timeoutMs: 10_000 });
  const socket = await open(listener.port);
  socket.on("error", () => {}); // the answer is not waited for
  socket.resume();
  socket.write(LINE);
  await quiet();
  const from = performance.now();
  socket.write("\n");
  const code = await accepted;
  const ms = performance.now() - from;
  if (code !== CODE) throw new Error("another code came");
  socket.destroy();
  await listener.close();
  return ms;
}

export const loopbackCases = {
  "loopback receiver": {
    what: "last byte of the redirect's line until `acceptOAuthCode` settles; `echo`: a byte to a bare `net` server and back",
    bars: { echo: 2 },
    samples: 150,
    prepare: () => ({ contenders: { echo, millrace: consent } }),
  },
};
