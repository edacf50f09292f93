// The end of a consent: from the last byte of the redirect's line until the code is there. The baseline is a bare server that does
// what cannot be left out: it reads the line, frees its port, and sends a page as long. Either has a server and a connection of its
// own for each sample.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
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

async function bare(page) {
  let answered;
  const sent = new Promise((resolve) => {
    answered = resolve;
  });
  const server = createServer({ allowHalfOpen: true }, (accepted) => {
    accepted.on("error", () => {}); // its reader may be gone
    let line = "";
    accepted.setEncoding("latin1").on("data", (part) => {
      line += part;
      if (!line.endsWith("\n")) return;
      server.close();
      accepted.write(page, answered);
      accepted.end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const closed = once(server, "close");
  const ms = await redirect(server.address().port, sent);
  await closed;
  return ms;
}

/** Sends the line; answers how long its end took until `done`. */
async function redirect(port, done) {
  const socket = await open(port);
  socket.on("error", () => {}); // the answer is not waited for
  socket.resume();
  socket.write(LINE);
  await quiet();
  const from = performance.now();
  socket.write("\n");
  await done;
  const ms = performance.now() - from;
  socket.destroy();
  return ms;
}

async function consent() {
  const listener = await bindLoopback();
  const accepted = acceptOAuthCode(listener, { state: STATE, timeoutMs: 10_000 });
  const ms = await redirect(listener.port, accepted);
  if ((await accepted) !== CODE) throw new Error("another code came");
  await listener.close();
  return ms;
}

/** What the receiver answers. */
async function pageOf() {
  const listener = await bindLoopback();
  const accepted = acceptOAuthCode(listener, { state: STATE, timeoutMs: 10_000 });
  const socket = await open(listener.port);
  socket.write(`${LINE}\n`);
  const page = await text(socket);
  await accepted;
  return page;
}

export const loopbackCases = {
  "loopback receiver": {
    what: "last byte of the redirect's line until `acceptOAuthCode` settles; `bare`: until a `net` server has freed its port and sent a page as long",
    bars: { bare: 2.5 },
    samples: 150,
    warmTurns: 1, // a consent comes once in a process; V8 compiles the baseline after some hundred turns, and ours later
    async prepare() {
      const page = await pageOf();
      return { contenders: { bare: () => bare(page), millrace: consent } };
    },
  },
};
