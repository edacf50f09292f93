/** `GET /api/runs/{id}/events`: every row of the table of re-attaching. */

import { createClient } from "@millrace/client";
import type { AnyEvent, Kind, RunViewJson } from "@millrace/contracts";
import {
  createView,
  foldEvents,
  parseEvent,
  parseEventStrict,
  viewFromJson,
  viewToJson,
} from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { describe, expect, test } from "vitest";
import { ASK_PLAINLY, HELLO, MANY } from "./support/flows.ts";
import { approve, invoke, post, problemOf, serve } from "./support/server.ts";
import { expectLegal, frames, kinds, readEvents, readUntil } from "./support/streams.ts";

/** A finished run and its whole log. */
async function finished(server: RunningServer): Promise<{ url: string; log: AnyEvent[] }> {
  const response = await post(server, "/api/run", { dsl: HELLO });
  const log = await readEvents(response);
  return { url: `${server.url}/api/runs/${log[0]?.runId}/events`, log };
}

/** A run that waits for an answer, and what it has said so far. */
async function paused(server: RunningServer) {
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: ASK_PLAINLY });
  const url = `${server.url}/api/runs/${runId}/events`;
  const log = await readUntil(await fetch(url), "run.paused");
  const answer = () => approve(server, runId);
  return { runId, url, log, answer };
}

test("a frame is a line of data, a line with its position, and an empty line", async () => {
  const server = await serve();
  const { url, log } = await finished(server);
  const text = await (await fetch(url)).text();
  const parts = text.split("\n\n");
  expect(parts.pop()).toBe("");
  expect(parts).toHaveLength(log.length);
  parts.forEach((part, i) => {
    expect(part).toMatch(/^data: \{[^\n]*\}\nid: \d+$/);
    expect(part.endsWith(`\nid: ${i + 1}`)).toBe(true);
  });
});

describe("a finished run", () => {
  test("is told from any position to its end, and after it with 204", async () => {
    const server = await serve();
    const { url, log } = await finished(server);
    for (let after = 0; after <= log.length; after += 1) {
      const byQuery = await fetch(`${url}?after=${after}`);
      const byHeader = await fetch(url, { headers: { "last-event-id": `${after}` } });
      expect(byQuery.status).toBe(after === log.length ? 204 : 200);
      expect(byHeader.status).toBe(byQuery.status);
      expect(await readEvents(byQuery)).toEqual(log.slice(after));
      expect(await readEvents(byHeader)).toEqual(log.slice(after));
    }
  });

  test("is told from a snapshot of the event before its summary", async () => {
    const server = await serve();
    const { url, log } = await finished(server);
    const events = await readEvents(await fetch(`${url}?snapshot=1`));
    expect(kinds(events)).toEqual(["snapshot", "summary"]);
    expect(events[0]?.seq).toBe(log.length - 1);
    const view = createView(log[0]?.runId);
    for (const event of log.slice(0, -1)) foldEvents(view, event);
    expect((events[0] as { view?: RunViewJson }).view).toEqual(viewToJson(view));
  });
});

describe("a live run", () => {
  test("is told from a position on, then live, without a gap and without a repeat", async () => {
    const server = await serve();
    const { url, log, answer } = await paused(server);
    const readers = [0, 1, log.length - 1, log.length].map(async (after) => {
      const events: AnyEvent[] = [];
      for await (const { id, event } of frames(await fetch(`${url}?after=${after}`))) {
        expect(id).toBe(`${event.seq}`);
        events.push(event);
      }
      return { after, events };
    });
    await answer();
    const told = await Promise.all(readers);
    const whole = told[0]?.events ?? [];
    expectLegal(whole);
    for (const { after, events } of told) expect(events).toEqual(whole.slice(after));
  });

  test("is told from a snapshot on, and the fold is that of the whole log", async () => {
    const server = await serve();
    const { url, answer } = await paused(server);
    const response = await fetch(`${url}?snapshot=1`);
    const rest = readEvents(response);
    await answer();
    const [first, ...others] = await rest;
    const whole = await readEvents(await fetch(url));
    const view = viewFromJson((first as unknown as { view: RunViewJson }).view);
    for (const event of others) foldEvents(view, event);
    const full = createView(first?.runId);
    for (const event of whole) foldEvents(full, event);
    expect(JSON.stringify(viewToJson(view))).toBe(JSON.stringify(viewToJson(full)));
  });

  test("tells two hundred readers the same", async () => {
    const server = await serve();
    const { url, answer } = await paused(server);
    const readers = Array.from({ length: 200 }, async () => (await fetch(url)).text());
    await answer();
    const texts = new Set(await Promise.all(readers));
    expect(texts.size).toBe(1);
  });
});

describe("a position", () => {
  test("after the last event is refused with the last one there is", async () => {
    const server = await serve();
    const { url, log } = await finished(server);
    const response = await fetch(`${url}?after=${log.length + 1}`);
    expect(response.status).toBe(409);
    expect(await problemOf(response)).toMatchObject({
      code: "ahead_of_journal",
      lastSeq: log.length,
    });
    const live = await paused(server);
    expect((await fetch(`${live.url}?after=1000`)).status).toBe(409);
  });

  test.each(["-1", "1.5", "x", "9007199254740992", "1e3"])("of %s is refused", async (position) => {
    const server = await serve();
    const { url } = await finished(server);
    for (const response of [
      await fetch(`${url}?after=${position}`),
      await fetch(url, { headers: { "last-event-id": position } }),
    ]) {
      expect(response.status).toBe(400);
      expect((await problemOf(response)).code).toBe("bad_cursor");
    }
  });

  test("given twice must be the same", async () => {
    const server = await serve();
    const { url, log } = await finished(server);
    const same = await fetch(`${url}?after=1`, { headers: { "last-event-id": "1" } });
    expect(await readEvents(same)).toEqual(log.slice(1));
    const other = await fetch(`${url}?after=1`, { headers: { "last-event-id": "2" } });
    expect(other.status).toBe(400);
    expect((await problemOf(other)).code).toBe("bad_cursor");
  });
});

test("whoever accepts NDJSON gets a line for each event and nothing else", async () => {
  const server = await serve({ heartbeatMs: 5 });
  const { url, answer } = await paused(server);
  const response = await fetch(url, { headers: { accept: "application/x-ndjson" } });
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const text = response.text();
  await answer();
  const lines = (await text).split("\n");
  expect(lines.pop()).toBe("");
  const events = lines.map((line) => parseEventStrict(line));
  expectLegal(events);
  expect(await readEvents(await fetch(url))).toEqual(events);
});

test("an unknown run is not found", async () => {
  const server = await serve();
  const response = await fetch(`${server.url}/api/runs/none/events`);
  expect(response.status).toBe(404);
  expect(await problemOf(response)).toMatchObject({
    code: "not_found",
    resource: "run",
    instance: "/api/runs/:runId/events",
  });
});

test("kinds filter as the run's own stream does", async () => {
  const server = await serve();
  const { url } = await finished(server);
  const events = await readEvents(await fetch(`${url}?kinds=log&kinds=node.skipped`));
  expect(kinds(events)).toEqual(["run.started", "log", "summary"]);
  expect((await fetch(`${url}?kinds=none`)).status).toBe(422);
});

const NESTED = `flow 1 nested

node many: map {
  items = [1, 2]
  body {
    node inner: map {
      items = [item]
      as = "each"
      body {
        node leaf: transform {
          value = each
        }
      }
    }
  }
}

node manyMore: transform {
  value = many
}
`;

describe("events of one node", () => {
  /** The log of a run, and what is read of it by each way. */
  async function nested() {
    const server = await serve();
    const log = await readEvents(await post(server, "/api/run", { dsl: NESTED }));
    const runId = log[0]?.runId ?? "";
    const client = createClient({ url: server.url });
    const read = async (filter: { node: string; below?: boolean; kinds?: Kind[] }) => {
      const { items } = await client.invoke("get_run_events", { runId, limit: 200, ...filter });
      expect(await toArray(client.runEvents(runId, filter))).toEqual(items);
      return items;
    };
    const framed = (test: (node: string) => boolean) =>
      log.filter((event) => FRAME.has(event.kind) || ("node" in event && test(`${event.node}`)));
    return { server, runId, read, framed };
  }
  const FRAME = new Set(["run.started", "summary"]);
  async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
    const all: T[] = [];
    for await (const item of items) all.push(item);
    return all;
  }

  test("are its own, whatever the body of its neighbours does, with the frame of the run", async () => {
    const { read, framed } = await nested();
    const own = await read({ node: "many" });
    expect(own).toEqual(framed((node) => node === "many"));
    expect(own.length).toBeGreaterThan(3);
    expect(await read({ node: "many[1]/inner" })).toEqual(framed((at) => at === "many[1]/inner"));
    expect(await read({ node: "elsewhere" })).toEqual(framed(() => false));
  });

  test("with below are also those in its body, not those of a node whose name begins alike", async () => {
    const { read, framed } = await nested();
    const all = await read({ node: "many", below: true });
    expect(all).toEqual(framed((node) => node === "many" || node.startsWith("many[")));
    expect(all.some((event) => "node" in event && event.node === "many[1]/inner[0]/leaf")).toBe(
      true,
    );
    const one = await read({ node: "many[0]/inner", below: true });
    expect(one).toEqual(framed((node) => node.startsWith("many[0]/inner")));
    expect(await read({ node: "many", below: false })).toEqual(await read({ node: "many" }));
  });

  test("may be asked for by kind, too", async () => {
    const { read, framed } = await nested();
    const started = await read({ node: "many", below: true, kinds: ["node.started"] });
    const wanted = framed((node) => node === "many" || node.startsWith("many["));
    const isWanted = ({ kind }: AnyEvent) => FRAME.has(kind) || kind === "node.started";
    expect(started).toEqual(wanted.filter(isWanted));
  });

  test("of a text that is no path are refused", async () => {
    const { server, runId } = await nested();
    const url = `${server.url}/api/runs/${runId}/events`;
    for (const node of ["many[1]", "a//b", ""]) {
      const response = await fetch(`${url}?node=${encodeURIComponent(node)}`);
      expect([node, response.status]).toEqual([node, 422]);
    }
  });
});

test("by name the events come as a page, and go on after the last one", async () => {
  const server = await serve();
  const { log } = await finished(server);
  const runId = log[0]?.runId;
  type Page = { items: AnyEvent[]; nextCursor: string | null };
  const first = await invoke<Page>(server, "get_run_events", { runId, limit: 3 });
  expect(first.items).toEqual(log.slice(0, 3));
  const rest = await invoke<Page>(server, "get_run_events", {
    runId,
    after: Number(first.nextCursor),
  });
  expect(rest).toEqual({ items: log.slice(3), nextCursor: null });
});

describe("a log that is longer than what is kept at hand", () => {
  const items = Array.from({ length: 3_000 }, (_, i) => i);

  /** The lines of a run of nine thousand events, and where to read them again. */
  async function longRun(): Promise<{ url: string; lines: string[] }> {
    const server = await serve();
    const response = await post(server, "/api/run", { dsl: MANY, inputs: { items } });
    const lines = (await response.text())
      .split("\n\n")
      .map((frame) => frame.slice("data: ".length));
    lines.pop();
    return {
      url: `${server.url}/api/runs/${response.headers.get("millrace-run-id")}/events`,
      lines,
    };
  }

  const readLines = async (url: string): Promise<string[]> => {
    const response = await fetch(url, { headers: { accept: "application/x-ndjson" } });
    return (await response.text()).split("\n").slice(0, -1);
  };

  function foldLines(lines: readonly string[]): string {
    const view = createView();
    for (const line of lines) foldEvents(view, parseEvent(line));
    return JSON.stringify(viewToJson(view));
  }

  test("is told whole, from the journal and then from what is at hand", async () => {
    const { url, lines } = await longRun();
    expectLegal(lines.map((line) => parseEvent(line)));
    expect(lines.length).toBeGreaterThan(9_000);
    expect(await readLines(url)).toEqual(lines);
    expect(await readLines(`${url}?after=700`)).toEqual(lines.slice(700));
  });

  test("is cut short by a snapshot for a reader that wants the present", async () => {
    const { url, lines } = await longRun();
    const short = await readLines(`${url}?lag=snapshot`);
    expect(kinds(short.slice(-2).map((line) => parseEvent(line)))).toEqual(["snapshot", "summary"]);
    expect(short.length).toBeLessThan(lines.length / 2);
    expect(foldLines(short)).toBe(foldLines(lines));
  });
});
