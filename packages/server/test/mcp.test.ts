import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { createMcpSource } from "@millrace/providers/mcp";
import { createServer } from "@millrace/server";
import { casesOf } from "@millrace/test-support";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { ASK, ASK_PLAINLY, HELLO, MANY, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

type Server = Awaited<ReturnType<typeof serve>>;
type Elicited = { readonly message: string; readonly requestedSchema?: unknown };

/** A client of the current revision; `answer`: what its person does with a form. */
async function connect(
  server: Server,
  {
    token,
    era = "modern",
    answer,
    onTools,
  }: {
    readonly token?: string;
    readonly era?: "modern" | "legacy";
    readonly answer?: (form: Elicited) => object;
    readonly onTools?: () => void;
  } = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      ...(era === "modern" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      ...(onTools && {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onTools } },
      }),
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler(
      "elicitation/create",
      async ({ params }) => answer(params as Elicited) as never,
    );
  }
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
  );
  onTestFinished(() => client.close());
  return client;
}

/** A call of the current revision as bytes. */
function rawCall(name: string, id: number) {
  const version = "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name, arguments: {}, _meta };
  return {
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...{ "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": name },
    },
  };
}

const textOf = (result: object): string =>
  (result as { readonly content: readonly { readonly text: string }[] }).content[0]?.text ?? "";

const SIGN_IN = `# Signs in.
flow 1 sign-in

input password {
  schema = { type: "string", format: "password" }
}

output done: bool = true
`;

const SENDS = `# Sends a thing away.
#
# It is gone then.
flow 1 sends

input to: { name: string, tags: string[] }

input key = "none" {
  schema = { type: "string", writeOnly: true }
}

node send: http.request {
  url = "https://shop.example/things"
  method = "DELETE"
  body = inputs.to
}

node greet: subflow {
  flow = "hello"
}
`;

async function save(server: Server, slug: string, dsl: string, description = ""): Promise<void> {
  await invoke(server, "save_template", { slug, dsl, ...(description && { description }) });
}

test("a described flow is a tool, for clients of both eras, and a call of it is a run", async () => {
  const server = await serve();
  await save(server, "hello", HELLO, "Greets somebody.");
  await save(server, "plain", HELLO);
  await save(server, "sends", SENDS);
  await save(server, "sign-in", SIGN_IN);
  // Looked at once each, or this never ends: twelve flows that all call all.
  const slugs = Array.from({ length: 12 }, (_, n) => `ring-${n}`);
  const calls = slugs.map((slug) => `node ${slug}: subflow {\n  flow = "${slug}"\n}\n`).join("\n");
  for (const slug of slugs) await save(server, slug, `flow 1 ${slug}\n\n${calls}`);
  await save(server, "rings", `flow 1 rings\n\n${calls}`, "Calls.");
  for (const era of ["modern", "legacy"] as const) {
    const client = await connect(server, { era });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["validate_flow", "format_flow", "explain_diagnostic", "list_node_types", "get_run"],
      ...["run_flow", "hello", "rings", "sends"],
    ]);
    const [hello, rings, sends] = tools.slice(-3);
    expect(rings?.annotations).toMatchObject({ readOnlyHint: true });
    expect(hello).toMatchObject({
      title: "Hello",
      description: "Greets somebody.",
      inputSchema: {
        type: "object",
        properties: { name: { type: "string", default: "world" } },
        required: [],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { text: { type: "string" } } },
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    });
    expect(sends).toMatchObject({
      description: "Sends a thing away.\n\nIt is gone then.",
      inputSchema: { required: ["to"] },
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: true,
      },
    });
    expect(Object.keys(sends?.inputSchema.properties ?? {})).toEqual(["to"]);
    const seen: string[] = [];
    const result = await client.callTool(
      { name: "hello", arguments: { name: "Ada" } },
      { onprogress: ({ message = "" }) => void seen.push(message) },
    );
    expect(result).toMatchObject({ structuredContent: { text: "Hello, Ada!" } });
    expect(seen).toContain("greeting succeeded");
  }
  // As the tool of an `ai` node, by the client that flows have.
  const own = createMcpSource({
    servers: { own: { url: `${server.url}/mcp`, tools: ["hello"] } },
    credentials: { secret: async () => undefined },
    references: { resolve: async () => ({}) },
    fetch: fetch as never,
  });
  onTestFinished(() => own.close());
  const { signal } = new AbortController();
  const node = { runId: "r1", fetch, signal, timeoutMs: 30_000, warn() {}, progress() {} } as never;
  expect(await own.list("own", node)).toMatchObject([{ name: "hello" }]);
  const greeted = await own.call("own", { tool: "hello", args: { name: "Cy" } }, node);
  expect(greeted).toEqual({ text: "Hello, Cy!" });
  const run = { trigger: "mcp", status: "succeeded", template: { slug: "hello" } };
  const { items } = await invoke<{ items: object[] }>(server, "list_runs", {});
  expect(items).toMatchObject([run, run, run]);
});

test("what is wrong with a call is told in one answer, and an unknown tool by the nearest name", async () => {
  const server = await serve();
  await save(server, "hello", HELLO);
  await save(server, "sends", SENDS);
  const client = await connect(server);
  const call = async (name: string, args: object): Promise<string> => {
    const result = await client.callTool({ name, arguments: args as never });
    expect(result.isError).toBe(true);
    return textOf(result);
  };
  expect(await call("sends", { to: { name: 1, tags: [2] }, other: 1 })).toBe(
    [
      "input_invalid: The inputs do not fit the flow",
      "- /to/name: the input to must be string, found number",
      "- /to/tags/0: the input to must be string, found number",
      "- /other: the flow has no input other; it has to, key",
      "hint: the input schema of the tool says what it takes",
    ].join("\n"),
  );
  expect(await call("sends", { to: {}, key: "k" })).toContain("the input key is secret");
  expect(await call("validate_flow", { text: 1, strict: true })).toMatch(
    /^invalid_args: .*\n- \/text .*\n- .*strict/,
  );
  expect(await call("run_flow", { text: "flow 1 a\nnode b: htp.request {\n}" })).toContain(
    "FLOW3001",
  );
  expect(await call("explain_diagnostic", { code: "FLOW9999" })).toContain(
    "there is no diagnostic FLOW9999",
  );
  await expect(client.callTool({ name: "send" })).rejects.toThrow("did you mean sends?");
});

test("an author checks, formats, looks up, rehearses and runs a flow", async () => {
  const server = await serve();
  const client = await connect(server);
  const call = async (name: string, args: object) =>
    client.callTool({ name, arguments: args as never });
  await save(server, "hello", HELLO, "Greets.");
  await save(server, "sends", SENDS);
  expect(textOf(await call("validate_flow", { text: "flow 1 a\nnode b: lg {\n}" }))).toContain(
    "line 2: error FLOW3001",
  );
  expect(textOf(await call("format_flow", { text: "flow   1   a" }))).toBe("flow 1 a\n");
  expect(textOf(await call("explain_diagnostic", { code: "3001" }))).toContain('"right"');
  expect(textOf(await call("list_node_types", { query: "request" }))).toContain("http.request");
  expect(await call("list_node_types", { type: "log" })).toMatchObject({
    structuredContent: { type: "log", effect: "pure" },
  });
  expect(await call("run_flow", { text: HELLO, dry_run: true })).toMatchObject({
    structuredContent: { runs: false, steps: [{ node: "greeting", effect: "pure" }, {}] },
  });
  const calls =
    'flow 1 calls\n\nnode send: subflow {\n  flow = "sends"\n  inputs = { to: {} }\n}\n';
  expect(await call("run_flow", { text: calls, dry_run: true })).toMatchObject({
    structuredContent: { steps: [{ node: "send", type: "subflow", effect: "destructive" }] },
  });
  expect(
    textOf(await call("run_flow", { text: HELLO, inputs: { name: 1 }, dry_run: true })),
  ).toContain("input_invalid");
  expect(await invoke(server, "list_runs", {})).toMatchObject({ items: [] });
  const ran = await call("run_flow", { text: HELLO, inputs: { name: "Bo" } });
  expect(ran).toMatchObject({ structuredContent: { text: "Hello, Bo!" } });
  const run = String(ran._meta?.["dev.millrace/run"]);
  expect(await call("get_run", { run })).toMatchObject({
    structuredContent: { status: "succeeded" },
  });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual([
    ...["millrace://guide/language", "millrace://runs"],
    ...["millrace://flows/hello", "millrace://flows/sends"],
  ]);
  const read = async (uri: string): Promise<string> => {
    const [content] = (await client.readResource({ uri })).contents;
    return (content as { readonly text: string }).text;
  };
  expect(await read("millrace://guide/language")).toContain("# The Millrace flow language");
  expect(await read("millrace://flows/hello")).toBe(HELLO);
  expect(await read("millrace://runs")).toContain(run);
  expect(JSON.parse(await read(`millrace://runs/${run}`))).toMatchObject({ runId: run });
  const { events, next } = JSON.parse(await read(`millrace://runs/${run}/events?after=1`));
  expect([events[0].seq, events.at(-1).kind, next]).toEqual([2, "summary", null]);
  await expect(client.readResource({ uri: "millrace://flows/none" })).rejects.toThrow();
});

test("a question goes to the person at the client, in as many rounds as it takes", async () => {
  const server = await serve();
  await save(server, "ask", ASK, "Asks.");
  await save(server, "ask-plainly", ASK_PLAINLY, "Asks plainly.");
  const forms: Elicited[] = [];
  const answers: object[] = [
    { action: "accept", content: { reason: "no" } },
    { action: "accept", content: { reason: "because" } },
    { action: "decline" },
  ];
  const client = await connect(server, {
    answer(form) {
      forms.push(form);
      return answers.shift() ?? { action: "cancel" };
    },
  });
  const result = await client.callTool({ name: "ask" });
  expect(result).toMatchObject({ structuredContent: { reason: "because" } });
  expect(forms[0]?.message).toBe("Go on?\nAccept to approve, decline to reject.");
  expect(forms[0]?.requestedSchema).toMatchObject({ properties: { reason: { minLength: 3 } } });
  expect(forms[1]?.message).toContain("The answer does not fit");
  expect(await client.callTool({ name: "ask-plainly" })).toMatchObject({ structuredContent: {} });
  expect(textOf(await client.callTool({ name: "ask" }))).toContain("confirmation_required");

  await save(
    server,
    "ask-pin",
    ASK.replace("minLength: 3", 'format: "password"'),
    "Asks a secret.",
  );
  expect(textOf(await client.callTool({ name: "ask-pin" }))).toContain("confirmation_required");
  const ASK_TWICE = ASK_PLAINLY.replace(
    "node yes",
    'node also: confirm {\n  prompt = "Sure?"\n}\n\nnode yes',
  );
  await save(server, "ask-twice", ASK_TWICE, "Asks twice.");
  answers.push({ action: "cancel" }, { action: "accept", content: {} });
  const left = await client.callTool({ name: "ask-twice" });
  const asked = await invoke<{ items: { status: string }[] }>(server, "list_confirmations", {
    runId: String(left._meta?.["dev.millrace/run"]),
    status: "approved",
  });
  expect([forms.length, asked.items.length]).toEqual([6, 1]);

  const mute = await connect(server);
  const parked = await mute.callTool({ name: "ask-plainly" });
  const runId = String(parked._meta?.["dev.millrace/run"]);
  expect(textOf(parked)).toContain(`millrace confirm ${runId} --approve`);
  const confirmations = await invoke<{ items: { id: string }[] }>(server, "list_confirmations", {
    runId,
  });
  await invoke(server, "resolve_confirmation", {
    ...{ runId, confirmationId: confirmations.items[0]?.id, decision: "approve" },
  });
  await expect
    .poll(async () => textOf(await mute.callTool({ name: "get_run", arguments: { run: runId } })), {
      timeout: 10_000,
    })
    .toContain('"succeeded"');
});

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
