/** `GET /api/events`: starts, pauses, confirmations and ends of all runs. */
import { connect } from "node:net";
import { type AnyEvent, parseEvent, type RunRef } from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { follow } from "./support/feed.ts";
import { ASK_PLAINLY, HELLO } from "./support/flows.ts";
import { invoke, post, problemOf, serve } from "./support/server.ts";
import { type Frame, frames, readEvents } from "./support/streams.ts";

const IN_FEED = /^(run\.|confirm\.|summary$)/;

/** Runs a flow to its end and gives its log. */
async function run(server: RunningServer, dsl = HELLO): Promise<AnyEvent[]> {
  return readEvents(await post(server, "/api/run", { dsl }));
}

const inFeed = (log: readonly AnyEvent[]) => log.filter(({ kind }) => IN_FEED.test(kind));

/** Opens the feed; reads so many frames of it when asked. */
async function open(server: RunningServer, query = "", headers: Record<string, string> = {}) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const url = `${server.url}/api/events${query}`;
  const response = await fetch(url, { headers, signal: stop.signal });
  expect(response.status).toBe(200);
  const reading = frames(response);
  return {
    response,
    async next(count: number): Promise<Frame[]> {
      const read: Frame[] = [];
      while (read.length < count) {
        const { value, done } = await reading.next();
        if (done === true) break;
        read.push(value);
      }
      return read;
    },
    leave: () => stop.abort(),
  };
}

const eventsOf = (read: readonly Frame[]) => read.map(({ event }) => event);

test("a reader gets what happens from now on, of every run, and a position with each event", async () => {
  const server = await serve();
  await run(server);
  const feed = await open(server);
  expect(feed.response.headers.get("content-type")).toBe("text/event-stream");
  expect(feed.response.headers.has("millrace-feed-gap")).toBe(false);
  const logs = [await run(server), await run(server)];
  const wanted = logs.flatMap(inFeed);
  const read = await feed.next(wanted.length);
  expect(eventsOf(read)).toEqual(wanted);
  const positions = read.map(({ id }) => Number(id));
  expect(positions).toEqual(positions.map((_, i) => (positions[0] ?? 0) + i));
});

test("before its first event a reader is told where it is, in bytes that are no event", async () => {
  const server = await serve();
  await run(server);
  const { runId } = await invoke<RunRef>(server, "start_run", { dsl: ASK_PLAINLY });
  const response = await fetch(`${server.url}/api/events?after=1`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes("confirm.requested")) {
    text += Buffer.from((await reader.read()).value ?? []).toString();
  }
  expect(text).toMatch(/^id: 1\n\ndata: \{[^\n]*\}\nid: 2\n\ndata: /);
  expect(text).toContain(runId);
  await reader.cancel();
});

test("a reader that comes back misses nothing and sees nothing twice, wherever it left", async () => {
  const server = await serve();
  const wanted = [...inFeed(await run(server)), ...inFeed(await run(server, HELLO))];
  for (let after = 0; after < wanted.length; after += 1) {
    const byQuery = await open(server, `?after=${after}`);
    expect(eventsOf(await byQuery.next(wanted.length - after))).toEqual(wanted.slice(after));
    byQuery.leave();
    const byHeader = await open(server, "", { "last-event-id": `${after}` });
    expect(eventsOf(await byHeader.next(1))).toEqual(wanted.slice(after, after + 1));
    byHeader.leave();
  }
});

test("two hundred readers get the same, live", async () => {
  const server = await serve();
  const feeds = await Promise.all(Array.from({ length: 200 }, () => open(server)));
  const wanted = [...inFeed(await run(server)), ...inFeed(await run(server))];
  const read = await Promise.all(feeds.map((feed) => feed.next(wanted.length)));
  for (const each of read) expect(eventsOf(each)).toEqual(wanted);
});

test("kinds filter as those of a run do", async () => {
  const server = await serve();
  const feed = await open(server, "?kinds=confirm.requested");
  const { runId } = await invoke<RunRef>(server, "start_run", { dsl: ASK_PLAINLY });
  const read = eventsOf(await feed.next(2));
  expect(read.map(({ kind }) => kind)).toEqual(["run.started", "confirm.requested"]);
  await invoke(server, "resolve_confirmation", {
    runId,
    confirmationId: "k1",
    decision: "reject",
  });
  expect(eventsOf(await feed.next(1)).map(({ kind }) => kind)).toEqual(["summary"]);
  const unknown = await fetch(`${server.url}/api/events?kinds=none`);
  expect(unknown.status).toBe(422);
});

describe("a position", () => {
  test("whose events are gone begins at the oldest that is kept, and says so", async () => {
    const server = await serve();
    const [first, second] = [await run(server), await run(server)];
    await invoke(server, "delete_run", { runId: first[0]?.runId });
    const gap = await open(server, "?after=0");
    expect(gap.response.headers.get("millrace-feed-gap")).toBe("true");
    const read = await gap.next(inFeed(second).length);
    expect(eventsOf(read)).toEqual(inFeed(second));
    const oldest = Number(read[0]?.id);
    const exact = await open(server, `?after=${oldest - 1}`);
    expect(exact.response.headers.has("millrace-feed-gap")).toBe(false);
    expect(eventsOf(await exact.next(1))).toEqual(inFeed(second).slice(0, 1));
    await invoke(server, "delete_run", { runId: second[0]?.runId });
    const empty = await open(server, "?after=0");
    expect(empty.response.headers.get("millrace-feed-gap")).toBe("true");
  });

  test("that the feed has not reached is refused, and so is what is no position", async () => {
    const server = await serve();
    await run(server);
    for (const position of ["1000", "-1", "x", "1.5"]) {
      const response = await fetch(`${server.url}/api/events?after=${position}`);
      expect([response.status, (await problemOf(response)).code]).toEqual([400, "bad_cursor"]);
    }
    const both = await fetch(`${server.url}/api/events?after=1`, {
      headers: { "last-event-id": "2" },
    });
    expect(both.status).toBe(400);
  });

  test("is good after a restart", async () => {
    const dir = temporaryFolder();
    const first = await serve({ store: dir });
    const before = inFeed(await run(first));
    await first.close();
    const second = await serve({ store: dir });
    const feed = await open(second, "?after=1");
    const after = inFeed(await run(second));
    const wanted = [...before.slice(1), ...after];
    expect(eventsOf(await feed.next(wanted.length))).toEqual(wanted);
  });
});

test("a reader that takes nothing for a while gets everything then", async () => {
  const server = await serve();
  const socket = connect(server.address.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("GET /api/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  socket.pause();
  const feed = await follow(server);
  // Each summary has the output of its run: far more in all than sockets hold.
  const dsl = `flow 1 loud\n\nnode say: transform {\n  value = "${"x".repeat(60_000)}"\n}\n\noutput text: string = say.value\n`;
  const count = 150;
  for (let i = 0; i < count; i += 10) {
    await Promise.all(Array.from({ length: 10 }, () => invoke(server, "start_run", { dsl })));
    await feed.until("summary", i + 10);
  }
  const chunks: string[] = [];
  const last = `\nid: ${feed.events.length}`;
  const seen = new Promise<void>((resolve) => {
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      chunks.push(chunk);
      if (chunks.slice(-2).join("").includes(last)) resolve();
    });
  });
  socket.resume();
  await seen;
  const text = chunks.join("");
  expect(text.match(/"kind":"summary"/g)).toHaveLength(count);
  const ids = [...text.matchAll(/\nid: (\d+)\r?\n/g)].map(([, id]) => Number(id));
  expect(ids).toEqual(ids.map((_, i) => i)); // 0: where it began
});

test("the stream is the only answer, and it ends when the server drains or its token goes", async () => {
  const server = await serve({ tokens: ["a:read:0123456789abcdef", "b:admin:fedcba9876543210"] });
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const byName = await post(
    server,
    "/api/invoke",
    { command: "subscribe_events", args: {} },
    { headers: as("fedcba9876543210") },
  );
  expect([byName.status, byName.headers.get("link")]).toEqual([
    422,
    '</api/events>; rel="alternate"',
  ]);
  const [reader, admin] = [
    await open(server, "", as("0123456789abcdef")),
    await open(server, "", as("fedcba9876543210")),
  ];
  server.app.reload({ tokens: ["b:admin:fedcba9876543210"] });
  expect(await reader.next(1)).toEqual([]);
  await server.app.drain({ graceMs: 0 });
  expect(await admin.next(1)).toEqual([]);
});

test("too many readers are refused", async () => {
  const server = await serve({ maxStreams: 1 });
  await open(server);
  const response = await fetch(`${server.url}/api/events`);
  expect([response.status, (await problemOf(response)).code]).toEqual([503, "too_many_streams"]);
});

test("an event has the bytes that the log of its run has", async () => {
  const server = await serve();
  const log = await run(server);
  const text = await (
    await fetch(`${server.url}/api/runs/${log[0]?.runId}/events`, {
      headers: { accept: "application/x-ndjson" },
    })
  ).text();
  const lines = text.split("\n").filter((line) => line !== "");
  const wanted = lines.filter((line) => IN_FEED.test(parseEvent(line).kind));
  const response = await fetch(`${server.url}/api/events?after=0`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let bytes = "";
  while (!bytes.includes('"kind":"summary"')) {
    bytes += Buffer.from((await reader.read()).value ?? []).toString();
  }
  await reader.cancel();
  expect([...bytes.matchAll(/^data: (.*)$/gm)].map(([, line]) => line)).toEqual(wanted);
});
