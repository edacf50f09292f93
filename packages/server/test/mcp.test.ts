/** Flows as tools of an MCP client, and the tools of authors. */
import { createMcpSource } from "@millrace/providers/mcp";
import { expect, onTestFinished, test } from "vitest";
import { ASK, ASK_PLAINLY, HELLO } from "./support/flows.ts";
import { connect, type Elicited, save, textOf } from "./support/mcp.ts";
import { invoke, serve } from "./support/server.ts";

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
