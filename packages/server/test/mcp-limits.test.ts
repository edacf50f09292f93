/** What the MCP endpoint refuses and bears: roles, malformed messages, floods and slow readers. */
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { createServer } from "@millrace/server";
import { casesOf } from "@millrace/test-support";
import { expect, onTestFinished, test } from "vitest";
import { HELLO, MANY, SLEEP } from "./support/flows.ts";
import { connect, rawCall, save, textOf } from "./support/mcp.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

test("a cancelled call cancels its run; a token that may read sees and runs no flow; one that is revoked is out", async () => {
  const server = await serve({
    tokens: [
      "reader:read:read-read-read-read",
      "runner:run:run-run-run-run-run",
      "boss:admin:boss-boss-boss-boss",
    ],
  });
  const asBoss = { headers: { authorization: "Bearer boss-boss-boss-boss" } };
  const boss = async (command: string, args: object) =>
    (await post(server, "/api/invoke", { command, args }, asBoss)).json();
  await boss("save_template", { slug: "sleep", dsl: SLEEP, description: "Sleeps." });
  const runner = await connect(server, { token: "run-run-run-run-run" });
  const stop = new AbortController();
  const call = runner.callTool({ name: "sleep" }, { signal: stop.signal });
  const states = async () =>
    ((await boss("list_runs", {})) as { items: { status: string }[] }).items.map(
      ({ status }) => status,
    );
  await expect.poll(states).toEqual(["running"]);
  stop.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(states).toEqual(["cancelled"]);

  const reader = await connect(server, { token: "read-read-read-read" });
  const { tools } = await reader.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("sleep");
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  for (const name of ["sleep", "run_flow"]) {
    expect(textOf(await reader.callTool({ name, arguments: {} }))).toContain("forbidden");
  }
  server.app.reload({ tokens: ["runner:run:run-run-run-run-run"] });
  await expect(reader.listTools()).rejects.toThrow();
  expect((await post(server, "/mcp", {})).status).toBe(401);
});

test("a change of a template is told to who listens; what is no message is refused, and the server lives on", async () => {
  const server = await serve({ maxBodyBytes: 20_000 });
  let told = 0;
  let version = 0;
  await connect(server, {
    onTools: () => {
      told += 1;
    },
  });
  await expect
    .poll(
      async () => {
        version += 1;
        await invoke(server, "save_template", {
          ...{ slug: `hello-${version}`, dsl: HELLO, description: "Greets." },
        });
        return told;
      },
      { timeout: 10_000, interval: 300 },
    )
    .toBeGreaterThan(0);
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/mcp`, {
      method: "POST",
      body,
      headers: {
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...headers,
      },
    });
    return [response.status, (await response.text()).slice(0, 300)];
  };
  expect(await send("{")).toEqual([400, expect.stringContaining("-32700")]);
  expect(await send("[".repeat(500))).toEqual([400, expect.stringContaining("json_too_deep")]);
  expect(await send(`"${"x".repeat(30_000)}"`)).toEqual([
    413,
    expect.stringContaining("body_too_large"),
  ]);
  expect(await send('{"jsonrpc":"1.0"}')).toEqual([400, expect.stringContaining("error")]);
  expect(await send("{}", { "content-type": "text/plain" })).toEqual([415, expect.any(String)]);
  const old = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  expect(await send(JSON.stringify(old), { "mcp-protocol-version": "1999-01-01" })).toEqual([
    400,
    expect.stringContaining("rotocol version"),
  ]);
  const { body, headers } = rawCall("hello-1", 1);
  expect(await send(body, { ...headers, "mcp-name": "other" })).toEqual([
    400,
    expect.stringContaining("Mcp-Name"),
  ]);
  expect(await send(body.replace("clientCapabilities", "none"), headers)).toEqual([
    400,
    expect.stringContaining("envelope"),
  ]);
  const long = { ...old, id: "i".repeat(300) };
  expect(await send(JSON.stringify([long]))).toEqual([400, expect.stringContaining("an id has")]);
  expect((await fetch(`${server.url}/mcp`)).status).toBe(405);
});

test("of a flood of calls each is answered, few run, and others are served meanwhile", async () => {
  const server = await serve();
  await save(server, "sleep", SLEEP, "Sleeps.");
  await save(server, "hello", HELLO, "Greets.");
  const count = casesOf(10_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 192 });
  onTestFinished(() => agent.destroy());
  const call = (id: number) => {
    const { body, headers } = rawCall("sleep", id);
    const options = { agent, method: "POST", headers };
    return new Promise<string>((resolve, reject) => {
      const sent = request(`${server.url}/mcp`, options, (incoming) => {
        text(incoming).then(resolve, reject);
      });
      sent.on("error", reject).end(body);
    });
  };
  const refused = new Set<number>();
  const calls = Array.from({ length: count }, async (_, id) => {
    const answer = JSON.parse(await call(id));
    if (answer.id === id && /too_many_requests.*call again/s.test(textOf(answer.result))) {
      refused.add(id);
    }
  });
  for (const each of calls) each.catch(() => undefined);
  const other = await connect(server);
  expect((await other.listTools()).tools.map(({ name }) => name)).toContain("hello");
  expect(await invoke(server, "get_meta", {})).toMatchObject({ version: expect.any(String) });
  await expect.poll(() => refused.size, { timeout: 60_000 }).toBe(count - 128);
  expect(textOf(await other.callTool({ name: "hello" }))).toContain("too_many_requests");
  const states = async () =>
    (await invoke<{ items: { status: string }[] }>(server, "list_runs", { limit: 200 })).items.map(
      ({ status }) => status,
    );
  const atWork = async () => {
    const all = await states();
    return [all.length, all.filter((each) => each === "running").length];
  };
  await expect.poll(atWork, { timeout: 60_000 }).toEqual([128, 64]);
  agent.destroy();
  await expect
    .poll(async () => new Set(await states()), { timeout: 60_000 })
    .toEqual(new Set(["cancelled"]));
  expect(await other.callTool({ name: "hello" })).toMatchObject({ structuredContent: {} });
}, 120_000);

test("a slow call is a stream where one is free, a further one is refused, and so is one of a server that drains", async () => {
  const server = await serve({ maxStreams: 1, heartbeatMs: 500 });
  await save(server, "hello", HELLO, "Greets.");
  for (const slug of ["sleep-1", "sleep-2"]) await save(server, slug, SLEEP, "Sleeps.");
  const call = (name: string) =>
    post(
      server,
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } },
      { headers: { accept: "application/json, text/event-stream" } },
    );
  /** Its status; what it is a stream of has ended by then. */
  const greet = async () => {
    const response = await call("hello");
    await response.text();
    return response.status;
  };
  const runs = async (slug: string) =>
    (
      await invoke<{ items: { runId: string; template: { slug: string } }[] }>(
        server,
        "list_runs",
        {},
      )
    ).items.filter(({ template }) => template.slug === slug);
  const feed = await fetch(`${server.url}/api/events`);
  expect(await greet()).toBe(503);
  expect(await runs("hello")).toEqual([]);
  await feed.body?.cancel();
  await expect.poll(greet, { timeout: 10_000 }).toBe(200);
  const isStream = ({ headers }: Response) => headers.get("content-type") === "text/event-stream";
  const slow = ["sleep-1", "sleep-2"].map(call);
  const open = await Promise.any(
    slow.map(async (each, at) => {
      const response = await each;
      if (!isStream(response)) throw new Error("no stream");
      return { at, body: response.body as ReadableStream<Uint8Array> };
    }),
  );
  expect(await greet()).toBe(503);
  // By its second heartbeat the other call has had one too, and stays without.
  const frames = open.body.getReader();
  for (let beats = 0; beats < 2; beats += 1) {
    expect(new TextDecoder().decode((await frames.read()).value)).toContain(": hb");
  }
  for (const { runId } of await runs(`sleep-${2 - open.at}`)) {
    await invoke(server, "cancel_run", { runId });
  }
  expect(isStream((await slow[1 - open.at]) as Response)).toBe(false);
  await frames.cancel();
  await expect.poll(greet, { timeout: 10_000 }).toBe(200);
  await server.app.drain({ graceMs: 0 });
  expect((await problemOf(await call("hello"))).code).toBe("draining");
});

test("who does not read costs a limited number of frames, and gets the answer", async () => {
  const { app, close } = await createServer({ store: "memory", log: keepLog() });
  onTestFinished(() => close({ graceMs: 0 }));
  const admin = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;
  await app.invoke("save_template", { slug: "many", dsl: MANY, description: "Logs." }, admin);
  const { body, headers } = rawCall("many", 1);
  const call = JSON.parse(body);
  call.params.arguments.items = Array.from({ length: 1_000 }, (_, at) => at);
  call.params._meta.progressToken = 1;
  const response = await app.fetch(
    new Request("http://127.0.0.1:6455/mcp", {
      method: "POST",
      headers,
      body: JSON.stringify(call),
    }),
  );
  const states = async () => {
    const { items } = (await app.invoke("list_runs", {}, admin)) as { items: { status: string }[] };
    return items.map(({ status }) => status);
  };
  await expect.poll(states, { timeout: 20_000 }).toEqual(["succeeded"]);
  const told = await response.text();
  expect(told.slice(-500)).toContain('"structuredContent":{}');
  const count = told.split("notifications/progress").length - 1;
  expect([count > 100, count < 1_000]).toEqual([true, true]);
});

test("without the option there is no such route", async () => {
  const server = await serve({ mcp: false });
  expect((await post(server, "/mcp", {})).status).toBe(404);
});
