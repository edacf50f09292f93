// What the wires of desktop channels cost, coalescing on, beside the same events sent as they are. Processor time of both ends.
import { PassThrough } from "node:stream";
import { MessageChannel } from "node:worker_threads";
import { connectWire, createLineWire, serveWire } from "@millrace/desktop";
import { createPortTransport, servePort } from "@millrace/desktop/port";
import { sized } from "../size.js";

const DELTAS = sized(100_000, 1_000);
const AT_ONCE = 512; // as many as a socket brings in one read

const place = { v: 1, runId: "run_1", ts: 1_750_000_000_000, node: "say", attempt: 1 };
const EVENTS = Array.from({ length: DELTAS }, (_, offset) => ({
  ...place,
  kind: "llm.delta",
  seq: offset + 1,
  call: "c1",
  channel: "text",
  offset,
  text: "a",
}));

/** Hands on every event, some at a time, and answers when the reader has all of their text. */
async function flow(send, read) {
  let units = 0;
  const all = new Promise((resolve) => {
    read((event) => {
      units += event.text.length;
      if (units === DELTAS) resolve();
    });
  });
  for (let at = 0; at < DELTAS; at += AT_ONCE) {
    for (const event of EVENTS.slice(at, at + AT_ONCE)) send(event);
    await new Promise(setImmediate);
  }
  await all;
}

/** Milliseconds of the processor. */
async function spent(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** A host of one channel, and what gives it events. */
function source() {
  let deliver = () => {};
  const host = {
    invoke: async () => null,
    async listen(_channel, handler) {
      deliver = handler;
      return () => {};
    },
  };
  return { host, send: (event) => void deliver(event) };
}

async function over(transport, send, close) {
  let hear = () => {};
  await transport.listen("flow:execution", (event) => hear(event), { runId: place.runId });
  const read = (handler) => {
    hear = handler;
  };
  const ms = await spent(() => flow(send, read));
  await close();
  return ms;
}

export const port = {
  what: `${DELTAS} deltas through a \`MessagePort\`, beside \`postMessage\` of each`,
  bars: { postMessage: 1 },
  samples: 5,
  prepare() {
    return {
      contenders: {
        async postMessage() {
          const { port1, port2 } = new MessageChannel();
          const read = (handler) => port2.on("message", handler);
          const ms = await spent(() => flow((event) => port1.postMessage(event), read));
          port1.close();
          return ms;
        },
        async millrace() {
          const { port1, port2 } = new MessageChannel();
          const { host, send } = source();
          servePort(port1, host);
          const transport = createPortTransport(port2);
          return over(transport, send, () => transport.close());
        },
      },
    };
  },
};

/** Ends of a line over a pair of streams, as of a child process. */
const endsOf = (input, output) => ({
  write: (text) => void output.write(text),
  onText: (handler) => void input.setEncoding("utf8").on("data", handler),
  onEnd: (handler) => void input.once("end", handler),
  close: () => void output.end(),
});

export const lines = {
  what: `${DELTAS} deltas through a pair of streams, a JSON text a line, beside a line for each`,
  bars: { "a line each": 1 },
  samples: 5,
  prepare() {
    return {
      contenders: {
        async "a line each"() {
          const pipe = new PassThrough();
          let rest = "";
          const read = (handler) =>
            pipe.setEncoding("utf8").on("data", (text) => {
              const parts = (rest + text).split("\n");
              rest = parts.pop();
              for (const part of parts) handler(JSON.parse(part));
            });
          return spent(() => flow((event) => pipe.write(`${JSON.stringify(event)}\n`), read));
        },
        async millrace() {
          const [there, back] = [new PassThrough(), new PassThrough()];
          const { host, send } = source();
          serveWire(createLineWire(endsOf(there, back)), host);
          const transport = connectWire(createLineWire(endsOf(back, there)), { isOpen: true });
          return over(transport, send, () => transport.close());
        },
      },
    };
  },
};
