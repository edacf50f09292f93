// A door before a server: it passes everything on, but the log of one run, which has ended, comes as if it went on: so many events a second.
import { createServer, request } from "node:http";

/** Milliseconds between two pieces of the log. */
const TICK_MS = 20;

/**
 * Opens the door. `run`: the run that seems to go on; `events`: its log; `perSecond`: how fast it comes. `pace.start` lets it begin, and
 * `pace.end` is when the last event was sent.
 */
export async function openDoor({ url, run, events, perSecond }) {
  const { host } = new URL(url);
  const frames = events.map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
  const pace = { sent: 0 };
  const started = new Promise((resolve) => {
    pace.start = resolve;
  });
  const ended = new Promise((resolve) => {
    pace.ended = resolve;
  });
  pace.end = ended;

  async function stream(response) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(frames[0]);
    pace.sent = 1;
    await started;
    const start = performance.now();
    while (pace.sent < frames.length) {
      const due = Math.ceil(((performance.now() - start) / 1_000) * perSecond) + 1;
      const next = Math.min(frames.length, due);
      response.write(frames.slice(pace.sent, next).join(""));
      pace.sent = next;
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    response.end();
    pace.ms = performance.now() - start;
    pace.ended();
  }

  /** What the server says of the run, as long as its log has not come whole. */
  const going = () => JSON.stringify({ ...run, status: "running", lastSeq: 1, endedAt: null });

  const server = createServer(async (asked, response) => {
    if (asked.url.startsWith(`/api/runs/${run.runId}/events`)) return stream(response);
    const chunks = [];
    for await (const chunk of asked) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const isOpen = pace.sent < frames.length;
    if (isOpen && body.includes('"get_run"')) {
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(going());
    }
    const { origin, ...headers } = asked.headers;
    const given = { ...headers, host, ...(origin !== undefined && { origin: url }) };
    const passed = request(
      `${url}${asked.url}`,
      { method: asked.method, headers: given },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    response.on("close", () => passed.destroy());
    passed.on("error", () => response.destroy());
    return passed.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    pace,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
