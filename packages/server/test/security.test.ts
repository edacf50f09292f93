/**
 * The security checklist of the server, line by line. What the gate refuses is in `gate.test.ts`, what the log hides in
 * `process.test.ts`; here is what an attacker would try next. Hostile bodies and flows are in `hostile-content.test.ts`.
 */
import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { COMMANDS } from "@millrace/contracts/commands";
import { createServer, type RunningServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, sendRaw, serve } from "./support/server.ts";
import { expectLegal, frames, kinds, readEvents, readUntil } from "./support/streams.ts";

const TOKEN = "0123456789abcdef";
const SECOND = "fedcba9876543210";
/** Every path that answers something without a command. */
const PLAIN = ["/api/invoke", "/api/openapi.json", "/api/docs", "/api/metrics", "/api/none", "/"];

function open(server: RunningServer): Socket {
  const socket = connect(server.address.port, server.address.address);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** However it ends. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.on("error", () => {}).once("close", () => resolve()));
}

/** Sends these bytes, and gives what came until the server closed the socket. */
async function talk(server: RunningServer, bytes: string): Promise<string> {
  const socket = open(server);
  let answer = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    answer += chunk;
  });
  socket.write(bytes, "latin1");
  await closed(socket);
  return answer;
}

describe("gate first, on every path", () => {
  const paths = new Set([
    ...PLAIN,
    ...[...COMMANDS.values()].map(({ http }) => (http?.path ?? "").replace(/:\w+/g, "x")),
  ]);

  test("a name that was rebound to this machine gets nothing, with tokens and without", async () => {
    for (const tokens of [[], [TOKEN]]) {
      const server = await serve({ tokens });
      for (const path of [...paths, "/api/health", "/api/ready", "/hooks/x"]) {
        const answer = await sendRaw(
          server,
          `GET ${path} HTTP/1.1\r\nHost: rebound.example:6455\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
        );
        expect(answer.status, path).toBe(403);
        expect(JSON.parse(answer.body), path).toMatchObject({ code: "host_not_allowed" });
        answer.socket.destroy();
      }
    }
  });

  test("a page of another site cannot post, whatever its browser says about itself", async () => {
    const server = await serve();
    const attempts = [
      ["Origin: https://evil.example"],
      ["Origin: null"],
      ["Origin: http://localhost:3000"],
      ["Sec-Fetch-Site: cross-site"],
      ["Sec-Fetch-Site: same-site"],
      // A form that is submitted navigates; to the API that is no excuse.
      ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
    ];
    for (const lines of attempts) {
      const body = JSON.stringify({ dsl: HELLO });
      const head = [
        "POST /api/runs HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(body)}`,
        ...lines,
      ];
      const answer = await sendRaw(server, `${head.join("\r\n")}\r\n\r\n${body}`);
      expect(answer.status, lines.join()).toBe(403);
      expect(JSON.parse(answer.body)).toMatchObject({ code: "origin_not_allowed" });
    }
    expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [] });
  });

  test("no answer allows another origin, or sets or reads a cookie", async () => {
    const server = await serve({ tokens: [TOKEN] });
    for (const path of paths) {
      const response = await fetch(server.url + path, { headers: { cookie: `token=${TOKEN}` } });
      expect(response.status, path).toBe(401);
      for (const [name] of response.headers) {
        expect(name).not.toMatch(/^(?:access-control-|set-cookie$|server$|x-powered-by$)/);
      }
      await response.body?.cancel();
    }
  });

  test("every refusal of a token is the same, but for its id", async () => {
    const server = await serve({ tokens: [TOKEN] });
    const bodies = new Set<string>();
    const values = [
      "",
      "Bearer",
      `Bearer ${SECOND}`,
      `Basic ${TOKEN}`,
      `Bearer  ${TOKEN}`,
      "Bearer ü",
    ];
    for (const authorization of values) {
      const head = `GET /api/none HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`;
      const { status, body, headers } = await sendRaw(server, head);
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toBe("Bearer");
      bodies.add(JSON.stringify({ ...JSON.parse(body), requestId: "" }));
    }
    expect(bodies.size).toBe(1);
  });
});

describe("what a caller writes never becomes a header or a line", () => {
  test("line ends in a path, a query or a header are refused or stay data", async () => {
    const log = keepLog();
    const server = await serve({ log });
    for (const path of ["/api/runs/%0d%0aSet-Cookie:%20x=1", "/api/runs/a%0aX-Forged:%201"]) {
      const response = await fetch(server.url + path);
      expect(response.status).toBe(400);
      expect([...response.headers.keys()]).not.toContain("set-cookie");
      expect(response.headers.get("x-forged")).toBeNull();
    }
    const response = await fetch(`${server.url}/api/runs?cursor=%0d%0aX-Forged:1`);
    expect(response.status).toBe(400);
    expect(response.headers.get("x-forged")).toBeNull();
    expect(JSON.stringify(log.lines)).not.toMatch(/forged|cookie/i);
  });

  test("a second request hidden in a first one is not answered", async () => {
    const server = await serve();
    const hidden = "GET /api/meta HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const attempts = [
      // Both lengths, and a transfer coding that one reader knows and another does not.
      `POST /api/invoke HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `POST /api/invoke HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: xchunked\r\n\r\n${hidden}`,
      `POST /api/invoke HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 99\r\n\r\nx${hidden}`,
      `GET /api/meta HTTP/1.1\r\nHost: localhost\r\nX: a\rX-Second: b\r\n\r\n`,
    ];
    for (const text of attempts) {
      const answer = await talk(server, text);
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    }
  });

  test("output of a node that looks like a frame is text inside its frame", async () => {
    const server = await serve();
    const forged =
      'x"}\n\ndata: {"v":1,"kind":"summary","runId":"r","seq":99,"ts":1}\n\nevent: x\nid: 7\n: ';
    const log = await readEvents(
      await post(server, "/api/run", { dsl: HELLO, inputs: { name: `${forged}\r\u2028\u0000` } }),
    );
    expectLegal(log);
    expect(kinds(log).filter((kind) => kind === "summary")).toHaveLength(1);
    expect(log.at(-1)).toMatchObject({ outputs: { text: expect.stringContaining(forged) } });
    const runId = log[0]?.runId;
    for await (const { id, event } of frames(
      await fetch(`${server.url}/api/runs/${runId}/events`),
    )) {
      expect(id).toBe(`${event.seq}`);
    }
  });
});

describe("cursors", () => {
  test("of another list, another filter or another server, or changed in any byte, are refused", async () => {
    const server = await serve();
    const other = await serve();
    for (const each of [server, server, server, other, other]) {
      await readEvents(await post(each, "/api/run", { dsl: HELLO }));
    }
    const cursorOf = async (from: RunningServer, command: string) =>
      (await invoke<{ nextCursor: string }>(from, command, { limit: 1 })).nextCursor;
    const own = await cursorOf(server, "list_runs");
    const [text = "", mac = ""] = own.split(".");
    const forged = [
      await cursorOf(server, "list_nodes"),
      await cursorOf(other, "list_runs"),
      text,
      `${text}.`,
      `.${mac}`,
      `${own}.${mac}`,
      `${Buffer.from('{"v":1,"key":"0","filterHash":""}').toString("base64url")}.${mac}`,
      ...[...text.slice(0, 8)].map((char, i) => {
        return `${text.slice(0, i)}${char === "A" ? "B" : "A"}${text.slice(i + 1)}.${mac}`;
      }),
    ];
    for (const cursor of forged) {
      const response = await post(server, "/api/invoke", {
        command: "list_runs",
        args: { limit: 1, cursor },
      });
      expect((await problemOf(response)).code, cursor).toBe("bad_cursor");
    }
    expect(await invoke(server, "list_runs", { limit: 1, cursor: own })).toHaveProperty("items");
  });
});

test.each([
  ["list_runs", { limit: 1 }],
  ["list_nodes", { limit: 1 }],
])("a cursor of %s is good after a restart, and in one spelling", async (command, args) => {
  const store = temporaryFolder();
  const first = await serve({ store });
  for (const _ of [1, 2]) await readEvents(await post(first, "/api/run", { dsl: HELLO }));
  const { nextCursor: cursor } = await invoke<{ nextCursor: string }>(first, command, args);
  await first.close();
  const second = await serve({ store });
  expect(await invoke(second, command, { ...args, cursor })).toHaveProperty("items");
  const response = await post(second, "/api/invoke", {
    command,
    args: { ...args, cursor: `${cursor}.${cursor}` },
  });
  expect((await problemOf(response)).code).toBe("bad_cursor");
});

describe("clients that hold on to what they have", () => {
  test("a request that comes drop by drop is ended", async () => {
    const log = keepLog();
    const server = await serve({ log, headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const [headers, body] = await Promise.all([
      talk(server, "GET /api/meta HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
      talk(
        server,
        'POST /api/invoke HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"command"',
      ),
    ]);
    expect(headers).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    expect(body).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    const [, requestId] = /"requestId":"(\w+)"/.exec(body) ?? [];
    expect(log.lines.filter(({ message }) => message === "request")).toEqual([
      expect.objectContaining({
        fields: expect.objectContaining({ requestId, path: "/api/invoke", status: 408 }),
      }),
    ]);
  });

  test("sockets over the limit are refused, and those that leave make room", async () => {
    const server = await serve({ maxConnections: 4 });
    const sockets = Array.from({ length: 4 }, () => open(server));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const refused = open(server);
    refused.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await closed(refused);
    expect(refused.bytesRead).toBe(0);
    const [leaving] = sockets;
    leaving?.destroy();
    for (;;) {
      const status = await fetch(`${server.url}/api/health`).then(
        (response) => response.status,
        () => undefined,
      );
      if (status === 200) break; // the server hears of the leaving after its client
    }
  });

  test("idle streams are bounded, cost no run its place, and leave no trace when they go", async () => {
    const maxStreams = 200;
    const server = await serve({ maxStreams });
    const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: ASK_PLAINLY });
    const url = `${server.url}/api/runs/${runId}/events`;
    await readUntil(await fetch(url), "run.paused");
    // The stream that was read until here has gone when the server says so.
    const open = async () => (await fetch(`${server.url}/api/metrics`)).text();
    await expect.poll(open).toMatch(/^millrace_streams 0$/m);
    const leaving = Array.from({ length: maxStreams }, () => new AbortController());
    const streams = await Promise.all(leaving.map(({ signal }) => fetch(url, { signal })));
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await fetch(url);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await problemOf(refused)).code).toBe("too_many_streams");
    expect(await invoke(server, "start_run", { dsl: HELLO })).toHaveProperty("runId");
    for (const each of leaving) each.abort();
    // A try fails, and the next one may work, where the server has just closed the connection that was kept for it.
    const again = async () => {
      const response = await fetch(url, { headers: { accept: "application/x-ndjson" } });
      await response.body?.cancel();
      return response.status;
    };
    await expect.poll(again).toBe(200);
  });

  test("the streams of a token that is revoked end, those of others go on, and so does the run", async () => {
    const server = await serve({ tokens: [`a:run:${TOKEN}`, `b:run:${SECOND}`] });
    const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const started = await post(server, "/api/runs", { dsl: ASK_PLAINLY }, as(TOKEN));
    const { runId } = (await started.json()) as { runId: string };
    const url = `${server.url}/api/runs/${runId}/events`;
    const [revoked, kept] = [await fetch(url, as(TOKEN)), await fetch(url, as(SECOND))];
    server.app.reload({ tokens: [`b:run:${SECOND}`] });
    expect(kinds(await readEvents(revoked))).not.toContain("summary");
    expect((await fetch(url, as(TOKEN))).status).toBe(401);
    await post(server, `/api/runs/${runId}/confirmations/k1`, { decision: "approve" }, as(SECOND));
    expect((await readEvents(kept)).at(-1)).toMatchObject({ status: "succeeded" });
  });
});

test("every request of a socket is let in by its own token alone, as long as that is valid", async () => {
  const server = await serve({ tokens: [`first:admin:${TOKEN}`, `second:read:${SECOND}`] });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const sockets = new Set<number | undefined>();
  const ask = async (authorization: string | undefined, path = "/api/meta"): Promise<number> => {
    const headers = authorization === undefined ? {} : { authorization };
    const request = get(`${server.url}${path}`, { agent, headers });
    const [answer] = await once(request, "response");
    sockets.add(answer.socket.localPort);
    await once(answer.resume(), "end");
    return answer.statusCode;
  };
  const first = `Bearer ${TOKEN}`;
  const wrong = [
    ...[undefined, "", "Bearer", TOKEN, first.slice(0, -1), `${first}0`, `${first} `.repeat(2)],
    ...[`${first.slice(0, -1)}0`, `Bearer ${"0".repeat(TOKEN.length)}`, `Basic ${TOKEN}0`],
    `${first}${"0".repeat(4_000)}`,
  ];
  for (let round = 0; round < 2; round += 1) {
    for (const authorization of wrong) {
      expect(await ask(first)).toBe(200);
      expect(await ask(authorization), authorization).toBe(401);
    }
    expect(await ask(`Bearer ${SECOND}`)).toBe(200);
    expect(await ask(`bearer ${TOKEN}`)).toBe(200);
  }
  server.app.reload({ tokens: [`second:read:${SECOND}`] });
  expect(await ask(first)).toBe(401);
  expect(await ask(`Bearer ${SECOND}`)).toBe(200);
  expect(sockets.size).toBe(1);
});

test("no answer of a fault tells what happened inside", async () => {
  const { host, close } = await createServer({ store: "memory", log: keepLog() });
  onTestFinished(() => close({ graceMs: 0 }));
  const { createApp } = await import("@millrace/server");
  const leak = () => {
    throw new Error(`at /srv/secret/path with ${TOKEN}`);
  };
  const app = createApp({ ...host, commands: new Map([["get_meta", leak]]) }, {});
  const response = await app.fetch(new Request("http://localhost/api/meta"));
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).not.toMatch(/srv|secret|0123|Error|at /);
  expect(JSON.parse(text)).toMatchObject({ code: "internal", requestId: expect.any(String) });
});

test("the packages that answer requests are newer than their known holes", async () => {
  const { readFile } = await import("node:fs/promises");
  const version = async (name: string) => {
    const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    const { version: text } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
    return text.split(".").map(Number) as [number, number, number];
  };
  const atLeast = ([a, b, c]: number[], [x, y, z]: [number, number, number]) =>
    a !== x ? x > (a ?? 0) : b !== y ? y > (b ?? 0) : z >= (c ?? 0);
  expect(atLeast([4, 12, 21], await version("hono"))).toBe(true);
  expect(atLeast([1, 19, 13], await version("@hono/node-server"))).toBe(true);
});
