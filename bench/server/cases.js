// The workloads. `who`: the contenders, the baseline first. `source`: what streams are fed with. `measure` answers the figures
// of one round of one contender; `bars`: the most that ours may be, of the baseline (`ratio`) or by itself (`value`), or the `least` of
// the baseline, with `should` as its goal; a `goal` is in the unit of the figure. Goals are shown and fail nothing.
import { once } from "node:events";
import { sized } from "../size.js";
import { exchange, open, readStreams } from "./load.js";
import { TOKEN } from "./variants.js";

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const GET = (path) => `GET ${path} HTTP/1.1\r\n${HEAD}\r\n`;
const POST = (path, body) =>
  `POST ${path} HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const EVENTS = GET("/api/runs/bench/events").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
const ANY = () => ({ count: 0, bytes: 190 });
const MIB = 1_048_576;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function requests(text) {
  return async ({ port, usage, quick }) => {
    const count = quick ? sized(6_000, 64) : 40_000;
    await exchange(port, text, { connections: 32, count: sized(4_000, 64) }); // until it is compiled
    const before = await usage();
    const seconds = await exchange(port, text, { connections: 32, count });
    const after = await usage();
    return { cpuUs: (after.cpuUs - before.cpuUs) / count, perSecond: count / seconds };
  };
}

function streams(clients, whole) {
  const parts = sized(clients === 1 ? 2 : 1, 200); // less would be the opening of streams more than their frames
  const eventsOf = (quick) => (quick ? whole / parts : whole);
  return {
    source: (quick) => ({ count: eventsOf(quick), bytes: 190 }),
    async measure({ port, usage, quick }) {
      const events = eventsOf(quick);
      for (let warm = 0; warm < sized(20_000, 1); warm += events)
        await readStreams(port, EVENTS, 1);
      if (clients > 1) await readStreams(port, EVENTS, clients); // streams are opened by code that is compiled as well
      const alone = await usage();
      await readStreams(port, EVENTS, 1);
      const before = await usage();
      const { seconds, bytes } = await readStreams(port, EVENTS, clients);
      const after = await usage();
      const lost = bytes.filter((read) => read < events * 198).length;
      if (lost > 0) throw new Error(`${lost} of ${clients} streams are not whole: ${bytes[0]}`);
      const total = clients * events;
      const usedUs = after.cpuUs - before.cpuUs;
      const rates = { cpuUs: usedUs / total, perSecond: total / seconds };
      if (clients === 1) return rates;
      const firstUs = before.cpuUs - alone.cpuUs;
      return { ...rates, nextUs: (usedUs - firstUs) / (total - events) };
    },
  };
}

const STREAMERS = ["raw, joined", "raw", "hono", "millrace"];
const OURS = ["millrace"];

const FLOW =
  '# Greets.\nflow 1 hello\n\ninput name: string\n\nnode greeting: transform {\n  value = "Hello, ${inputs.name}!"\n}\n\noutput text: string = greeting.value\n';
const RUN = POST("/api/runs?waitMs=30000", '{"template":"hello","inputs":{"name":"Ada"}}');
const CALL = POST(
  "/mcp",
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "hello",
      arguments: { name: "Ada" },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  }),
).replace(
  "\r\n\r\n",
  "\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: hello\r\n\r\n",
);

export const cases = {
  hello: {
    what: "a gated GET of small JSON over 32 connections; CPU of the server for each request",
    who: ["raw", "hono", "hono + middleware", "fastify", "millrace"],
    source: ANY,
    measure: requests(GET("/api/settings/schema")),
    bars: { cpuUs: { ratio: 1.8 }, perSecond: { least: 0.7, should: 0.8 } },
  },
  invoke: {
    what: "`POST /api/invoke` of a command that gives back its argument; the others parse the same body and answer the same",
    who: ["raw", "hono", "hono + middleware", "fastify", "millrace"],
    source: ANY,
    measure: requests(POST("/api/invoke", '{"command":"format_flow","args":{"dsl":"flow 1 x"}}')),
    bars: { cpuUs: { ratio: 2 } },
  },
  mcp: {
    what: "a tool call over `/mcp` beside the same run by `POST /api/runs?waitMs=`, in one server, in turns; CPU of the server",
    who: OURS,
    source: () => ({ count: 0, bytes: 190, whole: true }),
    async measure({ port, usage, quick }) {
      const count = quick ? sized(200, 8) : 1_000;
      const body = JSON.stringify({ slug: "hello", dsl: FLOW });
      const saved = `{"command":"save_template","args":${body}}`;
      await exchange(port, POST("/api/invoke", saved), { connections: 1, count: 1 });
      const used = { run: 0, call: 0 };
      for (let turn = 0; turn < sized(5, 2); turn += 1) {
        for (const [name, text] of Object.entries({ run: RUN, call: CALL })) {
          const before = await usage();
          await exchange(port, text, { connections: 8, count });
          const after = await usage();
          if (turn > 0) used[name] += after.cpuUs - before.cpuUs; // the first one compiles
        }
      }
      return { cpuUs: used.call / (sized(4, 1) * count), ofRun: used.call / used.run };
    },
    bars: { ofRun: { value: 1.3 } },
  },
  "sse, 1 client": {
    what: "frames of 190 bytes as fast as one reader takes them; CPU of the server for each frame",
    who: STREAMERS,
    ...streams(1, 200_000),
    bars: { cpuUs: { ratio: 1.47, goal: 2.2 } },
  },
  "sse, 200 clients": {
    what: "the same to 200 readers; last, what a frame takes for each of them but the first, with opening and closing the stream",
    who: STREAMERS,
    ...streams(200, 2_000),
    bars: { cpuUs: { ratio: 1.16, goal: 2.2 }, nextUs: { goal: 0.6 } },
  },
  slow: {
    what: "a reader that takes nothing of 200,000 frames of 1.2 KB: what the server keeps for it",
    who: ["raw", "hono", "millrace"],
    source: () => ({ count: sized(200_000, 20_000), bytes: 1_200 }),
    async measure({ port, usage, quick }) {
      const before = await usage(true);
      const socket = await open(port);
      socket.pause();
      socket.write(EVENTS);
      await wait(quick ? sized(1_000, 100) : 3_000);
      const after = await usage();
      socket.destroy();
      return { mib: (after.rss - before.rss) / MIB };
    },
    bars: { mib: { value: 16 } },
  },
  abort: {
    what: "from the FIN or the RST of who asked for a run to the cancel of that run, slower of the two",
    who: OURS,
    source: () => ({ count: 10, bytes: 190, endless: true }),
    async measure({ port, cancelled }) {
      const body = '{"dsl":"flow 1 x\\n\\noutput n: int = 1\\n"}';
      const times = [];
      for (let i = 0; i < sized(40, 2); i += 1) {
        const socket = await open(port);
        socket.write(POST("/api/run", body));
        await once(socket, "data");
        const told = cancelled();
        const leftAt = process.hrtime.bigint();
        if (i % 2 === 0) socket.destroy();
        else socket.resetAndDestroy();
        times.push(Number(BigInt(await told) - leftAt) / 1e6);
      }
      return { ms: Math.max(...times) };
    },
    bars: { ms: { value: 50 } },
  },
  idle: {
    what: "10,000 streams on which nothing happens: memory of the server for each, CPU in a second with all open",
    isLong: true, // without a bar
    who: ["raw", "millrace"],
    source: () => ({ count: 1, bytes: 190, endless: true }),
    async measure({ port, usage }) {
      const count = sized(10_000, 200);
      const before = await usage(true);
      const sockets = [];
      for (let i = 0; i < count; i += 200) {
        sockets.push(
          ...(await Promise.all(
            Array.from({ length: 200 }, async () => {
              const socket = await open(port);
              socket.write(EVENTS);
              await once(socket, "data");
              return socket;
            }),
          )),
        );
      }
      const opened = await usage(true);
      await wait(sized(1_000, 100));
      const later = await usage();
      for (const socket of sockets) socket.destroy();
      return {
        kib: (opened.rss - before.rss) / 1_024 / count,
        idleMs: (later.cpuUs - opened.cpuUs) / 1_000,
      };
    },
    bars: {},
  },
};
