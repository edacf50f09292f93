/** The makers' packages, driven over a real socket. */
import type { AiProvider } from "@millrace/contracts";
import { createProviders } from "@millrace/providers";
import { afterEach, expect, test } from "vitest";
import {
  ask,
  contextWith,
  KEY,
  partOf,
  partsOf,
  providerFor,
  textOf,
  WIRE_NAMES,
} from "../support/providers.ts";
import { startWireServer, type WireAnswer, type WireServer } from "../support/wire-server.ts";

let server: WireServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(...script: readonly WireAnswer[]): Promise<WireServer> {
  server = await startWireServer(script);
  return server;
}

test.each(WIRE_NAMES)(
  "%s: text, an end and counts arrive, with one request and our key",
  async (wire) => {
    const { url, requests } = await serve({ text: ["Hel", "lo"] });
    const model = await providerFor(wire, url).languageModel("m", contextWith());
    const parts = await partsOf(model, ask("hi"));
    expect(textOf(parts)).toBe("Hello");
    expect(partOf(parts, "finish")).toMatchObject({
      finishReason: { unified: "stop" },
      usage: { inputTokens: { total: 7 }, outputTokens: { total: 3 } },
    });
    expect(requests).toHaveLength(1);
    const [request] = requests;
    expect(request?.headers["x-api-key"] ?? request?.headers.authorization).toContain(KEY);
    expect(request?.body["model"]).toBe("m");
  },
);

test.each(WIRE_NAMES)("%s: an answer in single bytes is the same answer", async (wire) => {
  const { url } = await serve({ text: ["Grüße ", "🙂"], split: 1 });
  const model = await providerFor(wire, url).languageModel("m", contextWith());
  expect(textOf(await partsOf(model, ask("hi")))).toBe("Grüße 🙂");
});

test.each(WIRE_NAMES)(
  "%s: tool calls arrive with their arguments as text, broken or not",
  async (wire) => {
    const toolCalls = [
      { name: "look", args: '{"q":"a"}' },
      { name: "look", args: '{"q":' },
    ];
    const { url } = await serve({ toolCalls });
    const tool = { type: "function", name: "look", inputSchema: { type: "object" } } as const;
    const model = await providerFor(wire, url).languageModel("m", contextWith());
    const parts = await partsOf(model, ask("hi", { tools: [tool] }));
    const calls = parts.filter(({ type }) => type === "tool-call");
    expect(calls.map((call) => call["input"])).toContain('{"q":"a"}');
    expect(partOf(parts, "finish")).toMatchObject({ finishReason: { unified: "tool-calls" } });
  },
);

test.each(WIRE_NAMES)(
  "%s: a failing server is asked once; no package tries again by itself",
  async (wire) => {
    const { url, requests } = await serve({ status: 503, body: { message: "busy" } });
    const model = await providerFor(wire, url).languageModel("m", contextWith());
    await expect(partsOf(model, ask("hi"))).rejects.toMatchObject({ statusCode: 503 });
    expect(requests).toHaveLength(1);
  },
);

test.each(WIRE_NAMES)(
  "%s: an aborted call closes its socket, whichever way it is told",
  async (wire) => {
    const { url, requests, arrived, idle } = await serve(
      { text: ["a", "b"], ending: "silence", afterEvents: 3 },
      { text: ["a", "b"], ending: "silence", afterEvents: 3 },
    );
    const model = await providerFor(wire, url).languageModel("m", contextWith());
    const controller = new AbortController();
    const running = partsOf(model, ask("hi", { abortSignal: controller.signal }));
    await arrived(1);
    controller.abort();
    await expect(running).rejects.toThrow();
    await requests[0]?.closed;

    const { stream } = await model.doStream(ask("hi"));
    const reader = stream.getReader();
    while ((await reader.read()).value?.type !== "text-delta");
    await reader.cancel();
    await requests[1]?.closed;
    await idle();
  },
);

test.each(WIRE_NAMES)("%s: twenty calls aborted at once leave no socket behind", async (wire) => {
  const silent: WireAnswer = { text: ["a"], ending: "silence", afterEvents: 2 };
  const { url, arrived, idle, open } = await serve(...Array<WireAnswer>(20).fill(silent));
  // The egress client has 16 sockets for a host; each call brings its own.
  const calls = Array.from({ length: 20 }, async () => {
    const model = await providerFor(wire, url).languageModel("m", contextWith());
    const controller = new AbortController();
    return { controller, done: partsOf(model, ask("hi", { abortSignal: controller.signal })) };
  });
  const running = await Promise.all(calls);
  await arrived(20);
  for (const { controller } of running) controller.abort();
  const ends = await Promise.allSettled(running.map(({ done }) => done));
  expect(ends.every(({ status }) => status === "rejected")).toBe(true);
  await idle();
  expect(open()).toBe(0);
});

test("responses are never stored, whatever a flow passes through", async () => {
  const { url, requests } = await serve({ text: ["a"] });
  const model = await providerFor("responses", url).languageModel("gpt-4o", contextWith());
  await partsOf(model, ask("hi", { providerOptions: { openai: { store: true } } }));
  expect(requests[0]?.body["store"]).toBe(false);
});

test("a schema is sent in strict mode only where it obeys its rules", async () => {
  const { url, requests } = await serve({ text: ["{}"] }, { text: ["{}"] });
  const model = await providerFor("responses", url).languageModel("gpt-4o", contextWith());
  const closed = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  for (const schema of [closed, { ...closed, required: [] }]) {
    await partsOf(model, ask("hi", { responseFormat: { type: "json", schema, name: "answer" } }));
  }
  expect(requests.map(({ body }) => body["text"])).toEqual([
    { format: expect.objectContaining({ strict: true, type: "json_schema" }) },
    { format: expect.objectContaining({ strict: false, type: "json_schema" }) },
  ]);
});

test.each([
  ["responses", "gpt-5", "high", { reasoning: { effort: "high" } }],
  ["chat", "o3", "low", { reasoning_effort: "low" }],
  ["messages", "claude-haiku-4-5", "low", { thinking: { type: "enabled", budget_tokens: 1024 } }],
  ["messages", "claude-opus-5-5", "high", { thinking: { type: "adaptive" } }],
] as const)(
  "%s: reasoning reaches %s in its own words",
  async (wire, modelId, reasoning, wanted) => {
    const { url, requests } = await serve({ text: ["a"] });
    const model = await providerFor(wire, url).languageModel(modelId, contextWith());
    await partsOf(model, ask("hi", { reasoning }));
    expect(requests[0]?.body).toMatchObject(wanted);
  },
);

test("without a key nothing is asked, and no variable of the environment stands in", async () => {
  const { url, requests } = await serve({ text: ["a"] });
  process.env["OPENAI_API_KEY"] = "sk-of-the-environment";
  try {
    const context = contextWith({ credentials: {} });
    const asked = async () => providerFor("chat", url).languageModel("m", context);
    await expect(asked()).rejects.toMatchObject({ code: "credentials_missing" });
    expect(requests).toHaveLength(0);
  } finally {
    delete process.env["OPENAI_API_KEY"];
  }
});

test("an openai-compatible server gets its headers and asks for counts; a schema goes along only where it may", async () => {
  const { url, requests } = await serve({ text: ["{}"] }, { text: ["{}"] });
  const setting = {
    kind: "openai-compatible",
    baseUrl: url,
    headers: { "x-team": "blue" },
  } as const;
  const providers = createProviders({
    providers: { plain: setting, able: { ...setting, supportsStructuredOutputs: true } },
  });
  const responseFormat = { type: "json", schema: { type: "object" }, name: "a" } as const;
  for (const id of ["plain", "able"]) {
    const provider = providers.find((each) => each.id === id) as AiProvider;
    const model = await provider.languageModel("m", contextWith({ credentials: {} }));
    await partsOf(model, ask("hi", { responseFormat }));
  }
  const [plain, able] = requests;
  expect(plain?.headers["x-team"]).toBe("blue");
  expect(plain?.headers.authorization).toBeUndefined();
  expect(plain?.body["stream_options"]).toEqual({ include_usage: true });
  expect(plain?.body["response_format"]).toEqual({ type: "json_object" });
  expect(able?.body["response_format"]).toMatchObject({ type: "json_schema" });
  const able2 = providers.find(({ id }) => id === "able") as AiProvider;
  expect((await able2.capabilities("m")).jsonSchema).toBe(true);
});

test("Google: a stream of candidates is text and counts, and the key goes in its header, not in the URL", async () => {
  const chunk = (text: string, more: object = {}): string =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] }, ...more }], usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 } })}\n\n`;
  const { url, requests } = await serve({
    headers: { "content-type": "text/event-stream" },
    body: chunk("Hel") + chunk("lo", { finishReason: "STOP" }),
  });
  const [google] = createProviders({ providers: { google: { baseUrl: url } } }).filter(
    ({ id }) => id === "google",
  );
  const model = await (google as AiProvider).languageModel("gemini-2.5-flash", contextWith());
  const parts = await partsOf(model, ask("hi", { reasoning: "none" }));
  expect(textOf(parts)).toBe("Hello");
  expect(partOf(parts, "finish")).toMatchObject({ usage: { inputTokens: { total: 7 } } });
  expect(requests[0]?.headers["x-goog-api-key"]).toBe(KEY);
  expect(requests[0]?.path).not.toContain(KEY);
  expect(requests[0]?.body).toMatchObject({
    generationConfig: { thinkingConfig: { thinkingBudget: 0 } },
  });
});

test.each([
  ["openai", { data: [{ id: "a" }, { id: "b" }] }],
  ["openai", { data: [null, "x", { id: 1 }, { id: "a" }, { id: "b" }], models: 7 }],
  ["anthropic", { data: [{ id: "a", display_name: "A" }, { id: "b" }] }],
  ["google", { models: [{ name: "models/a" }, { name: "models/b" }] }],
] as const)("%s lists its models", async (id, body) => {
  const { url } = await serve({ body: JSON.stringify(body) }, { status: 401, body: {} });
  const [provider] = createProviders({ providers: { [id]: { baseUrl: url } } }).filter(
    (each) => each.id === id,
  );
  const list = () => provider?.listModels?.(contextWith());
  expect((await list())?.map((model) => model.id)).toEqual(["a", "b"]);
  await expect(list()).rejects.toMatchObject({ code: "ai_auth", status: 401 });
});
