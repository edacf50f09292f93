// Servers by name, each a function from the workload to a server of Node that is not listening yet. All answer the same:
// GET /api/settings/schema `{"ok":true}`, POST /api/invoke with the `dsl` of its arguments, GET /api/runs/bench/events a stream.
import { createServer } from "node:http";
import { frames } from "./source.js";

export const TOKEN = "0123456789abcdef-bench";
const JSON_TYPE = { "content-type": "application/json" };
const SSE_TYPE = { "content-type": "text/event-stream", "cache-control": "no-cache" };

function body(incoming) {
  return new Promise((resolve) => {
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => resolve(Buffer.concat(chunks).toString()));
  });
}

function send(outgoing, value) {
  const text = JSON.stringify(value);
  outgoing.writeHead(200, { ...JSON_TYPE, "content-length": Buffer.byteLength(text) });
  outgoing.end(text);
}

/** node:http alone; streams write frame by frame, or what is `joined` to 16 KiB. */
const raw = (joined) => (source) =>
  createServer(async (incoming, outgoing) => {
    if (incoming.method === "POST") {
      const { args } = JSON.parse(await body(incoming));
      return send(outgoing, { dsl: args.dsl });
    }
    if (!incoming.url.endsWith("/events")) return send(outgoing, { ok: true });
    outgoing.writeHead(200, SSE_TYPE);
    const stop = new AbortController();
    let go;
    outgoing.on("drain", () => go?.());
    outgoing.on("close", () => {
      stop.abort();
      go?.();
    });
    for await (const page of source.read(0, stop.signal)) {
      for (const chunk of frames(page, joined)) {
        if (!outgoing.write(chunk)) {
          await new Promise((resolve) => {
            go = resolve;
          });
        }
        if (stop.signal.aborted) return;
      }
    }
    outgoing.end();
  });

async function honoApp(source, ...middleware) {
  const [{ Hono }, { streamSSE }, { createAdaptorServer }] = await Promise.all([
    import("hono"),
    import("hono/streaming"),
    import("@hono/node-server"),
  ]);
  const app = new Hono();
  for (const each of middleware) app.use(each);
  app.get("/api/settings/schema", (c) => c.json({ ok: true }));
  app.post("/api/invoke", async (c) => c.json({ dsl: (await c.req.json()).args.dsl }));
  app.get("/api/runs/:runId/events", (c) =>
    streamSSE(c, async (stream) => {
      for await (const page of source.read(0)) {
        for (const { line } of page) await stream.writeSSE({ data: line.toString() });
        if (stream.aborted) return;
      }
    }),
  );
  return createAdaptorServer({ fetch: app.fetch });
}

/** What people put before an API to have some of the checks that ours has. */
async function guarded(source) {
  const [{ bearerAuth }, { bodyLimit }, { cors }, { secureHeaders }, { requestId }] =
    await Promise.all([
      import("hono/bearer-auth"),
      import("hono/body-limit"),
      import("hono/cors"),
      import("hono/secure-headers"),
      import("hono/request-id"),
    ]);
  return honoApp(
    source,
    requestId(),
    secureHeaders(),
    cors({ origin: "https://studio.example" }),
    bearerAuth({ token: TOKEN }),
    bodyLimit({ maxSize: 1_048_576 }),
  );
}

async function fastify() {
  const { default: create } = await import("fastify");
  const app = create();
  app.get("/api/settings/schema", async () => ({ ok: true }));
  app.post("/api/invoke", async ({ body: { args } }) => ({ dsl: args.dsl }));
  await app.ready();
  return app.server;
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Ours, with its gate, its token, its log (which writes nothing) and its metrics; the handlers do nothing. */
async function millrace(source, onCancel) {
  const { createApp, createServer: createMillrace } = await import("@millrace/server");
  const options = { tokens: [TOKEN], store: "memory", log: SILENT, maxStreams: 20_000, egress: {} };
  const { app: whole, host } = await createMillrace(options);
  if (source.whole) return createServer((incoming, outgoing) => whole.handle(incoming, outgoing));
  const executor = {
    kind: "memory",
    start: async () => ({ runId: "bench", status: "pending" }),
    get: async () => source.run,
    attach: (_runId, { after = 0, signal } = {}) => source.read(after, signal),
    cancel: async () => onCancel(),
    list: async () => ({ items: [], nextCursor: null }),
    close: async () => {},
  };
  const commands = new Map([
    ["get_settings_schema", () => ({ ok: true })],
    ["format_flow", ({ dsl }) => ({ dsl })],
    ["start_run", () => ({})],
  ]);
  const store = { ...host.store, runs: { summary: () => source.run } };
  const app = createApp({ ...host, store, executor, commands, log: SILENT }, options);
  return createServer((incoming, outgoing) => app.fetch(null, { incoming, outgoing }));
}

export const variants = {
  raw: raw(false),
  "raw, joined": raw(true),
  hono: (source) => honoApp(source),
  "hono + middleware": guarded,
  fastify,
  millrace,
};
