/** The typed client against a real server, and against a proxy that cuts its connections. */
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { ClientError, createClient, eventsOf } from "@millrace/client";
import type { AnyEvent } from "@millrace/contracts";
import { createHttpTransport } from "@millrace/desktop/http";
import type { RunningServer } from "@millrace/server";
import { serveHttp } from "@millrace/test-support/loopback";
import { describe, expect, expectTypeOf, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO, MANY, SLEEP } from "./support/flows.ts";
import { serve } from "./support/server.ts";
import { expectLegal, kinds } from "./support/streams.ts";

const TOKEN = "0123456789abcdef";
const clientOf = (url: string, more: { token?: string; silenceMs?: number } = {}) =>
  createClient({ url, fetch: (target, init) => fetch(target, init), ...more });

async function all(events: AsyncIterable<AnyEvent>): Promise<AnyEvent[]> {
  const found: AnyEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

/** A proxy before a server; `meddle` may answer by itself, or cut, or let through by answering false. */
async function proxy(
  server: RunningServer,
  meddle: (incoming: IncomingMessage, outgoing: ServerResponse, count: number) => boolean,
): Promise<{ readonly url: string; readonly targets: string[] }> {
  const targets: string[] = [];
  const { url } = await serveHttp((incoming, outgoing) => {
    targets.push(`${incoming.method} ${incoming.url}`);
    if (meddle(incoming, outgoing, targets.length)) return;
    forward(server, incoming, outgoing);
  });
  return { url, targets };
}

function forward(
  server: RunningServer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes = Number.POSITIVE_INFINITY,
): void {
  const { host: _, ...headers } = incoming.headers;
  const inner = request(server.url + incoming.url, { method: incoming.method, headers });
  inner.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
    let left = maxBytes;
    answer.on("data", (chunk: Buffer) => {
      outgoing.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) outgoing.socket?.destroySoon();
    });
    answer.on("end", () => outgoing.end());
  });
  inner.on("error", () => outgoing.destroy());
  outgoing.on("close", () => inner.destroy());
  incoming.pipe(inner);
}

describe("a command", () => {
  test("is called by its name, with its types", async () => {
    const client = clientOf(`${(await serve({ tokens: [TOKEN] })).url}/`, { token: TOKEN });
    const ref = await client.invoke("start_run", { dsl: HELLO });
    expectTypeOf(ref).toEqualTypeOf<{
      readonly runId: string;
      readonly status: typeof ref.status;
    }>();
    expect(await client.invoke("get_run", { runId: ref.runId })).toMatchObject({
      runId: ref.runId,
    });
    // @ts-expect-error an argument nobody knows
    await expect(client.invoke("get_run", { run: "x" })).rejects.toMatchObject({
      code: "invalid_args",
    });
  });

  test("that is repeated with its key has one effect", async () => {
    const client = clientOf((await serve()).url);
    const call = () => client.invoke("start_run", { dsl: HELLO }, { idempotencyKey: "one" });
    expect(await call()).toMatchObject({ runId: (await call()).runId });
  });

  test("that is refused throws what the server says", async () => {
    const client = clientOf((await serve()).url);
    const error = await client.invoke("start_run", { dsl: "flow 1" }).catch((thrown) => thrown);
    expect(ClientError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      code: "flow_invalid",
      status: 422,
      retryable: false,
      problem: { requestId: expect.any(String), errors: [expect.anything()] },
    });
  });

  test("that is refused says the first place of the flow in its message", async () => {
    const { url } = await serve();
    const args = { dsl: "flow 1 f\n\nnode a: nothing.here\n" };
    const place = /^The flow is not valid: FLOW3001 .*nothing\.here.* \(line 3\)$/;
    await expect(createClient({ url }).invoke("start_run", args)).rejects.toThrow(place);
    const transport = createHttpTransport({ url });
    onTestFinished(() => transport.close());
    await expect(transport.invoke("start_run", args)).rejects.toThrow(place);
  });

  test("on a server that is away, or that is none of ours, says so", async () => {
    const server = await serve();
    await server.close();
    await expect(clientOf(server.url).invoke("get_meta", {})).rejects.toMatchObject({
      code: "unreachable",
      retryable: true,
    });
    const other = await proxy(server, (_incoming, outgoing) => {
      outgoing.writeHead(404, { "content-type": "text/html" }).end("<h1>nothing</h1>");
      return true;
    });
    await expect(clientOf(other.url).invoke("get_meta", {})).rejects.toMatchObject({
      code: "bad_answer",
      status: 404,
    });
  });

  test("ends at once when its signal does", async () => {
    const client = clientOf((await serve()).url);
    const stop = new AbortController();
    const call = client.invoke(
      "run_and_wait",
      { dsl: SLEEP, waitMs: 60_000 },
      { signal: stop.signal },
    );
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });
});

describe("a run", () => {
  test("is read from its start to its summary", async () => {
    const events = await all(clientOf((await serve()).url).runFlow({ dsl: HELLO }));
    expectLegal(events);
    expect(events.at(-1)).toMatchObject({ kind: "summary", status: "succeeded" });
  });

  test("that is refused never begins", async () => {
    const reading = all(clientOf((await serve()).url).runFlow({ dsl: HELLO, version: 3 }));
    await expect(reading).rejects.toMatchObject({ code: "invalid_args" });
  });

  test("goes on when its reader leaves, and is read again from any position", async () => {
    const client = clientOf((await serve()).url);
    let runId = "";
    for await (const event of client.runFlow({ dsl: ASK_PLAINLY })) {
      runId = event.runId;
      if (event.kind === "run.paused") break;
    }
    const rest = all(client.runEvents(runId, { after: 1 }));
    await client.invoke("resolve_confirmation", {
      runId,
      confirmationId: "k1",
      decision: "approve",
    });
    expect((await rest).map(({ seq }) => seq)).toEqual((await rest).map((_, i) => i + 2));
    const last = (await rest).at(-1)?.seq ?? 0;
    expect(await all(client.runEvents(runId, { after: last }))).toEqual([]);
    await expect(all(client.runEvents(runId, { after: last + 1 }))).rejects.toMatchObject({
      code: "ahead_of_journal",
      problem: { lastSeq: last },
    });
  });

  test("shows the kinds that were asked for, also after a cut", async () => {
    const server = await serve();
    const cut = await proxy(server, (incoming, outgoing, count) => {
      if (count === 1) forward(server, incoming, outgoing, 900);
      return count === 1;
    });
    const request = { dsl: HELLO, options: { events: ["node.succeeded"] as const } };
    const events = await all(clientOf(cut.url).runFlow(request));
    expect(kinds(events)).toEqual(["run.started", "node.succeeded", "node.succeeded", "summary"]);
    expect(cut.targets[1]).toMatch(/kinds=node\.succeeded$/);
  });

  test("is whole, each event once, when every connection is cut in the middle of a frame", async () => {
    const server = await serve();
    const cut = await proxy(server, (incoming, outgoing) => {
      forward(server, incoming, outgoing, 4_001);
      return true;
    });
    const inputs = { items: Array.from({ length: 40 }, (_, i) => i) };
    const events = await all(clientOf(cut.url).runFlow({ dsl: MANY, inputs }));
    expectLegal(events);
    expect(events.at(-1)?.kind).toBe("summary");
    expect(cut.targets.length).toBeGreaterThan(3);
    expect(cut.targets.filter((target) => target.startsWith("POST"))).toHaveLength(1);
  });

  test("that may have begun is looked for before it is asked for again", async () => {
    const server = await serve();
    const lost = await proxy(server, (incoming, outgoing, count) => {
      if (count === 1) outgoing.destroy(); // never arrives
      // Arrives, but the answer is lost on the way.
      if (count === 3) {
        const deaf = {
          writeHead: () => {},
          write: () => {},
          end: () => outgoing.destroy(),
          on: () => {},
        };
        forward(server, incoming, deaf as never);
      }
      return count === 1 || count === 3;
    });
    const events = await all(clientOf(lost.url).runFlow({ dsl: HELLO }));
    expectLegal(events);
    expect(lost.targets.map((target) => target.split(" ")[0])).toEqual([
      "POST",
      "GET", // not found
      "POST",
      "GET",
    ]);
    const { items } = await clientOf(server.url).invoke("list_runs", {});
    expect(items).toHaveLength(1);
  });

  test("is opened again when its stream falls silent", async () => {
    const server = await serve();
    const silent = await proxy(server, (_incoming, outgoing, count) => {
      if (count > 1) return false;
      outgoing.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return true;
    });
    const { runId } = await clientOf(server.url).invoke("start_run", { dsl: HELLO });
    const events = await all(clientOf(silent.url, { silenceMs: 20 }).runEvents(runId));
    expectLegal(events);
    expect(silent.targets).toHaveLength(2);
  });
});

describe("events of an answer", () => {
  const answer = (type: string, ...pieces: string[]) =>
    new Response(
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
          controller.close();
        },
      }),
      { headers: { "content-type": type } },
    );
  const line = (seq: number) => `{"v":1,"kind":"run.resumed","runId":"r","seq":${seq},"ts":1}`;
  const seqs = async (response: Response) => (await all(eventsOf(response))).map(({ seq }) => seq);

  test.each<[string, string[]]>([
    ["in one piece", [`data: ${line(1)}\n\n: hb\n\ndata: ${line(2)}\nid: 2\n\n`]],
    ["byte by byte", [...`data: ${line(1)}\n\n: hb\n\ndata: ${line(2)}\nid: 2\n\n`]],
    ["with other line ends", [`data:${line(1)}\r\n\r\ndata: ${line(2)}\r`, "\n\r\n"]],
    [
      "over two lines of data",
      [`data: ${line(1).replace(",", ",\ndata: ")}\n\ndata: ${line(2)}\n\n`],
    ],
    ["with an end that is cut off", [`data: ${line(1)}\n\ndata: ${line(2)}\n\ndata: {"v":1`]],
  ])("are read %s", async (_name, pieces) => {
    expect(await seqs(answer("text/event-stream", ...pieces))).toEqual([1, 2]);
  });

  test("are read from NDJSON as well", async () => {
    const text = `${line(1)}\n${line(2)}\n`;
    expect(await seqs(answer("application/x-ndjson", text.slice(0, 30), text.slice(30)))).toEqual([
      1, 2,
    ]);
  });

  test("are not found in a page, nor in a line that is none", async () => {
    const page = all(eventsOf(answer("text/html", "data: 1\n\n")));
    await expect(page).rejects.toMatchObject({ code: "bad_answer" });
    const bad = all(eventsOf(answer("text/event-stream", "data: {}\n\n")));
    await expect(bad).rejects.toMatchObject({ code: "bad_answer" });
  });
});

test("a server that takes a connection and answers nothing is asked again", async () => {
  let asked = 0;
  const { url } = await serveHttp((_, outgoing) => {
    asked += 1;
    if (asked > 1) outgoing.writeHead(204).end();
  });
  expect(await all(clientOf(url, { silenceMs: 20 }).runEvents("r1"))).toEqual([]);
  expect(asked).toBeGreaterThanOrEqual(2);
});
