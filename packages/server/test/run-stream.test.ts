/** `POST /api/run`: its bytes, its headers, and what leaving does. */
import { once } from "node:events";
import { connect } from "node:net";
import { parseEventStrict } from "@millrace/contracts";
import { createServer, type RunningServer } from "@millrace/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { approve, invoke, keepLog, post, problemOf, sendRaw, serve } from "./support/server.ts";
import { expectLegal, frames, kinds, readEvents, readUntil } from "./support/streams.ts";

/** `POST /api/run` as a client writes it to its socket. */
const asBytes = (body: string): string =>
  `POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** `POST /api/run` as a request of fetch. */
const request = (body: object, signal?: AbortSignal): Request =>
  new Request("http://localhost/api/run", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

test("a frame is one line of data and one empty line, nothing else", async () => {
  const server = await serve();
  const response = await post(server, "/api/run", {
    dsl: HELLO,
    inputs: { name: "a\r\n\r\ndata: forged\u2028\u0085b" },
  });
  const text = await response.text();
  const lines = text.split("\n\n");
  expect(lines.pop()).toBe("");
  for (const line of lines)
    expect(line).toMatch(
      /^data: \{"v":1,"kind":"[a-z.]+","runId":"run_[^\r\n\u0085\u2028\u2029]*\}$/,
    );
  const events = lines.map((line) => parseEventStrict(line.slice("data: ".length)));
  expectLegal(events);
  expect(kinds(events).at(0)).toBe("run.started");
  expect(kinds(events).at(-1)).toBe("summary");
  expect(kinds(events).filter((kind) => kind === "summary")).toHaveLength(1);
});

test("the headers tell what it is, whose it is, and that nothing may hold it back", async () => {
  const server = await serve();
  const response = await post(server, "/api/run", { dsl: HELLO });
  const runId = response.headers.get("millrace-run-id");
  expect(runId).toMatch(/^run_/);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "content-location": `/api/runs/${runId}`,
    link: `</api/runs/${runId}/events>; rel="monitor"`,
    "x-content-type-options": "nosniff",
    "millrace-api-version": "1",
  });
  const events = await readEvents(response);
  expect(events[0]?.runId).toBe(runId);
});

test("headers come at once, also for a run that waits in the queue", async () => {
  const server = await serve({ maxLiveRuns: 1 });
  await invoke(server, "start_run", { dsl: SLEEP });
  const response = await post(server, "/api/run", { dsl: HELLO });
  expect(response.status).toBe(200);
  const runId = response.headers.get("millrace-run-id") ?? "";
  expect(await invoke(server, "get_run", { runId })).toMatchObject({ status: "pending" });
  await response.body?.cancel();
});

test("silence is broken by a comment", async () => {
  const server = await serve({ heartbeatMs: 20 });
  const response = await post(server, "/api/run", { dsl: ASK_PLAINLY });
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.endsWith(": hb\n\n: hb\n\n")) break;
  }
  expect(text).toMatch(/"kind":"run\.paused"[^\n]*\n\n(?:: hb\n\n){2}$/);
});

test("a filter lets the named kinds pass, and those without which nobody knows where they are", async () => {
  const server = await serve();
  const response = await post(server, "/api/run", { dsl: HELLO, options: { events: ["log"] } });
  const events = await readEvents(response);
  expect(kinds(events)).toEqual(["run.started", "log", "summary"]);
  const runId = response.headers.get("millrace-run-id") ?? "";
  const whole = await readEvents(await fetch(`${server.url}/api/runs/${runId}/events`));
  expectLegal(whole);
  expect(whole.length).toBeGreaterThan(3);
});

describe("the option confirm", () => {
  test.each([
    ["approve", "approved"],
    ["reject", "rejected"],
  ])("%s answers every confirmation at once", async (confirm, outcome) => {
    const server = await serve();
    const events = await readEvents(
      await post(server, "/api/run", { dsl: ASK_PLAINLY, options: { confirm } }),
    );
    expectLegal(events);
    expect(events.find(({ kind }) => kind === "confirm.resolved")).toMatchObject({
      outcome,
      by: "run-option",
    });
    expect(events.at(-1)).toMatchObject({ status: "succeeded" });
  });
});

/** The last event of a run, read by somebody who stays. */
async function endOf(server: RunningServer, runId: string) {
  const response = await fetch(`${server.url}/api/runs/${runId}/events`);
  const events = response.status === 204 ? [] : await readEvents(response);
  expectLegal(events);
  return events;
}

describe("a client that leaves", () => {
  test("cancels its run", async () => {
    const server = await serve();
    const response = await post(server, "/api/run", { dsl: SLEEP });
    const runId = response.headers.get("millrace-run-id") ?? "";
    await readUntil(response, "node.waiting"); // leaving the loop cancels the body
    const events = await endOf(server, runId);
    expect(events.find(({ kind }) => kind === "run.cancelling")).toMatchObject({
      reason: "disconnect",
    });
    expect(events.at(-1)).toMatchObject({ status: "cancelled", exitCode: 130 });
  });

  test("cancels its run by a reset too", async () => {
    const server = await serve();
    const body = JSON.stringify({ dsl: SLEEP, options: { runId: "reset" } });
    const { socket, status } = await sendRaw(server, asBytes(body));
    expect(status).toBe(200);
    socket.resetAndDestroy();
    expect((await endOf(server, "reset")).at(-1)).toMatchObject({ status: "cancelled" });
  });

  test("leaves a run alone that was started to continue", async () => {
    const server = await serve();
    const response = await post(server, "/api/run", {
      dsl: ASK_PLAINLY,
      options: { onDisconnect: "continue" },
    });
    const runId = response.headers.get("millrace-run-id") ?? "";
    await readUntil(response, "run.paused");
    await approve(server, runId);
    expect((await endOf(server, runId)).at(-1)).toMatchObject({ status: "succeeded" });
  });

  test("right after its request leaves no run behind", async () => {
    const server = await serve();
    const body = JSON.stringify({ dsl: SLEEP, options: { runId: "gone" } });
    const socket = connect(server.address.port, server.address.address);
    onTestFinished(() => void socket.destroy());
    socket.end(asBytes(body));
    socket.resume();
    await once(socket, "close");
    let response = await fetch(`${server.url}/api/runs/gone/events`);
    while (response.status === 404) response = await fetch(`${server.url}/api/runs/gone/events`);
    expect((await readEvents(response)).at(-1)).toMatchObject({ status: "cancelled" });
  });

  test("in the middle of its body starts nothing", async () => {
    const server = await serve();
    const socket = connect(server.address.port, server.address.address);
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    socket.write(
      'POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"dsl":',
    );
    socket.resetAndDestroy();
    await once(socket, "close");
    expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [] });
  });
});

test("a reader that looks on does not own the run: its leaving cancels nothing", async () => {
  const server = await serve();
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: ASK_PLAINLY });
  await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
  await approve(server, runId);
  expect((await endOf(server, runId)).at(-1)).toMatchObject({ status: "succeeded" });
});

describe("an idempotency key", () => {
  const key = { "idempotency-key": "k-1" };

  test("gives the second caller the stream of the first, from its beginning", async () => {
    const server = await serve();
    const first = await readEvents(
      await post(server, "/api/run", { dsl: HELLO }, { headers: key }),
    );
    const response = await post(server, "/api/run", { dsl: HELLO }, { headers: key });
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(await readEvents(response)).toEqual(first);
    expect(await invoke(server, "list_runs", {})).toMatchObject({
      items: [{ runId: first[0]?.runId }],
    });
  });

  test("lets a run live until the last of its callers leaves", async () => {
    const server = await serve();
    const first = await post(server, "/api/run", { dsl: ASK_PLAINLY }, { headers: key });
    const second = await post(server, "/api/run", { dsl: ASK_PLAINLY }, { headers: key });
    const runId = first.headers.get("millrace-run-id") ?? "";
    expect(second.headers.get("millrace-run-id")).toBe(runId);
    await readUntil(first, "run.paused");
    const rest = readEvents(second);
    await approve(server, runId);
    expect((await rest).at(-1)).toMatchObject({ status: "succeeded" });
  });

  test("repeats a refusal that would be the same again, but not that of a full queue", async () => {
    const server = await serve({ maxLiveRuns: 1, maxQueuedRuns: 0 });
    const ask = (body: object, name: string) =>
      post(server, "/api/run", body, { headers: { "idempotency-key": name } });
    const invalid = { dsl: "flow 1" };
    const first = await ask(invalid, "bad");
    const second = await ask(invalid, "bad");
    expect([
      first.headers.get("idempotent-replayed"),
      second.headers.get("idempotent-replayed"),
    ]).toEqual([null, "true"]);
    expect((await problemOf(second)).errors).toEqual((await problemOf(first)).errors);
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: SLEEP });
    expect((await ask({ dsl: HELLO }, "late")).status).toBe(429);
    await invoke(server, "cancel_run", { runId });
    await endOf(server, runId);
    const retried = await ask({ dsl: HELLO }, "late");
    expect(retried.status).toBe(200);
    expect((await readEvents(retried)).at(-1)).toMatchObject({ status: "succeeded" });
  });

  test("is refused with other arguments, and when it is none", async () => {
    const server = await serve();
    await readEvents(await post(server, "/api/run", { dsl: HELLO }, { headers: key }));
    const other = await post(
      server,
      "/api/run",
      { dsl: HELLO, inputs: { name: "x" } },
      { headers: key },
    );
    expect((await problemOf(other)).code).toBe("idempotency_mismatch");
    const bad = await post(
      server,
      "/api/run",
      { dsl: HELLO },
      { headers: { "idempotency-key": "x".repeat(129) } },
    );
    expect(bad.status).toBe(400);
    expect((await problemOf(bad)).code).toBe("bad_idempotency_key");
  });
});

test("more streams than allowed are refused, and told when to come back", async () => {
  const server = await serve({ maxStreams: 1 });
  const first = await post(server, "/api/run", { dsl: ASK_PLAINLY });
  const second = await post(server, "/api/run", { dsl: ASK_PLAINLY });
  expect(second.status).toBe(503);
  expect(second.headers.get("retry-after")).toBe("5");
  expect((await problemOf(second)).code).toBe("too_many_streams");
  expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [{}] });
  await first.body?.cancel();
});

test("a socket that takes nothing is destroyed, and its run with it", async () => {
  const log = keepLog();
  const server = await serve({ stallMs: 100, log });
  const dsl = `flow 1 flood

node many: map {
  items = inputs.items
  body {
    node say: log {
      message = inputs.text
    }
  }
}

node nap: delay {
  for = 1h
}

input items: int[]
input text: string
many -> nap
`;
  const body = JSON.stringify({
    dsl,
    inputs: { items: Array.from({ length: 2_000 }, () => 0), text: "x".repeat(8_000) },
    options: { runId: "flood" },
  });
  const { socket } = await sendRaw(server, asBytes(body));
  socket.pause();
  // The one who looks on takes so little that it cannot stall.
  const events = await readEvents(
    await fetch(`${server.url}/api/runs/flood/events?kinds=run.paused`),
  );
  expect(kinds(events)).toEqual(["run.started", "run.cancelling", "summary"]);
  expect(events[1]).toMatchObject({ reason: "disconnect" });
  expect(log.lines.map(({ message }) => message)).toContain("stream.stalled");
});

test("a client that leaves ends every run it asked for, also those behind another answer", async () => {
  const server = await serve({ heartbeatMs: 200 }); // of a socket that is held up only a write tells
  const socket = connect(server.address.port, server.address.address);
  onTestFinished(() => void socket.destroy());
  const ids = Array.from({ length: 20 }, (_, i) => `behind-${i}`);
  for (const runId of ids) {
    const body = JSON.stringify({ dsl: SLEEP, options: { runId } });
    socket.write(asBytes(body));
  }
  for (let known = 0; known < ids.length; ) {
    const page = await invoke<{ items: unknown[] }>(server, "list_runs", {});
    known = page.items.length;
  }
  socket.destroy();
  for (const runId of ids) {
    expect((await endOf(server, runId)).at(-1)).toMatchObject({ status: "cancelled" });
  }
});

test("a request over fetch whose signal is aborted has left", async () => {
  const server = await serve();
  const leaving = new AbortController();
  const response = await server.app.fetch(
    request({ dsl: SLEEP, options: { runId: "aborted" } }, leaving.signal),
  );
  leaving.abort();
  expect((await endOf(server, "aborted")).at(-1)).toMatchObject({ status: "cancelled" });
  await expect(response.text()).rejects.toThrow();
});

test("a reader over fetch that takes nothing is thrown out, and its run with it", async () => {
  const log = keepLog();
  const server = await serve({ stallMs: 50, log });
  await server.app.fetch(request({ dsl: SLEEP, options: { runId: "unread" } }));
  expect((await endOf(server, "unread")).at(-1)).toMatchObject({ status: "cancelled" });
  expect(log.lines.map(({ message }) => message)).toContain("stream.stalled");
});

test("a key whose run was deleted is answered with not found, not with an empty stream", async () => {
  const server = await serve();
  const key = { headers: { "idempotency-key": "one" } };
  const [first] = await readEvents(await post(server, "/api/run", { dsl: HELLO }, key));
  await invoke(server, "delete_run", { runId: first?.runId });
  const again = await post(server, "/api/run", { dsl: HELLO }, key);
  expect(again.status).toBe(404);
  expect(await problemOf(again)).toMatchObject({ code: "not_found", resource: "run" });
});

test("a stream over fetch has the same bytes, and leaving it cancels too", async () => {
  const server = await serve();
  const ask = (dsl: string) => server.app.fetch(request({ dsl }));
  const whole = await ask(HELLO);
  expect(whole.headers.get("content-type")).toBe("text/event-stream");
  expectLegal(await readEvents(whole));
  const left = await ask(SLEEP);
  const runId = left.headers.get("millrace-run-id") ?? "";
  for await (const { event } of frames(left)) if (event.kind === "node.waiting") break;
  expect((await endOf(server, runId)).at(-1)).toMatchObject({ status: "cancelled" });
});

test("a reader of few kinds leaves room for others while it passes over many events", async () => {
  const { app, host, close } = await createServer({ store: "memory", log: keepLog() });
  onTestFinished(() => close({ graceMs: 0 }));
  const nodes = Array.from({ length: 1_200 }, (_, i) => `node n${i}: log {\n  message = "x"\n}\n`);
  const run = await app.fetch(request({ dsl: `flow 1 many\n\n${nodes.join("\n")}` }));
  await run.text();
  const runId = run.headers.get("millrace-run-id") ?? "";
  const pages = Math.floor(((await host.store.runs.summary(runId))?.lastSeq ?? 0) / 512);
  expect(pages).toBeGreaterThan(4);
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const url = `http://localhost/api/runs/${runId}/events?kinds=node.failed`;
  await (await app.fetch(new Request(url))).text();
  isReading = false;
  expect(turns).toBeGreaterThan(pages);
});
