import type { IncomingMessage, ServerResponse } from "node:http";
import type { AiCall, AiPart, AiProvider, ModelLease } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalProvider, type LocalModels } from "@millrace/providers";
import { bodyOf, serveHttp } from "@millrace/test-support/loopback";
import { describe, expect, test } from "vitest";
import { providerConformance } from "../../testkit/src/providers/conformance.ts";

const fetch = createNodeHost().openFetch({ allow: [{ cidr: "127.0.0.1/32" }] });
const CALL: AiCall = { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] };
const never: LocalModels = {
  acquire: () => Promise.reject(new Error("nobody asks")),
  list: () => [],
};

interface Asked {
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly [name: string]: unknown };
}

/** A process of a model that answers as told, behind a manager that counts. */
async function serving(answer: (asked: Asked, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const counts = { held: 0, released: 0, left: 0 };
  const server = await serveHttp(async (request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) counts.left += 1;
    });
    const one = { headers: request.headers, body: JSON.parse(await bodyOf(request)) };
    asked.push(one);
    answer(one, response);
  });
  const models: LocalModels = {
    list: () => [],
    async acquire() {
      counts.held += 1;
      const lease: ModelLease = {
        baseUrl: `${server.url}/v1`,
        token: "a-token",
        release() {
          counts.released += 1;
        },
      };
      return lease;
    },
  };
  return { asked, counts, provider: createLocalProvider(models, { fetch }) };
}

async function open(provider: AiProvider, call: AiCall = CALL, signal?: AbortSignal) {
  const ctx = { credentials: {}, fetch, signal: signal ?? new AbortController().signal };
  const model = await provider.languageModel("tiny", ctx);
  const { stream } = await model.doStream({ ...call, ...(signal && { abortSignal: signal }) });
  return stream.getReader();
}

async function partsOf(reader: Awaited<ReturnType<typeof open>>): Promise<AiPart[]> {
  const parts: AiPart[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (next.value !== undefined) parts.push(next.value);
  }
  return parts;
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function say(text: string, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${chunk({ content: text })}${chunk({}, "stop")}data: [DONE]\n\n`);
}

function refuse(code: string, response: ServerResponse): void {
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: "no", code } }));
}

describe("the provider local", () => {
  const conforming: AiProvider = {
    ...createLocalProvider(never, { fetch }),
    languageModel: (modelId, ctx) =>
      createLocalProvider(
        {
          list: () => [],
          // Its token is what the suite knows as the key.
          acquire: async () => ({
            baseUrl: "http://127.0.0.1:1/v1",
            token: ctx.credentials.apiKey ?? "",
            release() {},
          }),
        },
        { fetch: ctx.fetch },
      ).languageModel(modelId, ctx),
  };
  const setup = { provider: conforming, modelId: "tiny", wire: "chat", keyless: true } as const;
  for (const each of providerConformance(setup)) test(each.name, () => each.run());
});

test("the model is held with its token while it answers, and let go once at the end", async () => {
  const { asked, counts, provider } = await serving((_asked, response) => say("hello", response));
  const parts = await partsOf(await open(provider, { ...CALL, topK: 7, seed: 3 }));
  expect(parts.filter(({ type }) => type === "text-delta")).toMatchObject([{ delta: "hello" }]);
  expect(parts.find(({ type }) => type === "stream-start")).toMatchObject({ warnings: [] });
  expect(asked).toMatchObject([
    { headers: { authorization: "Bearer a-token" }, body: { top_k: 7, seed: 3, stream: true } },
  ]);
  expect(counts).toEqual({ held: 1, released: 1, left: 0 });
});

test("who leaves in the middle lets go, and the process sees it", async () => {
  const { counts, provider } = await serving((_asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ content: "one" }));
  });
  const reader = await open(provider);
  for (let next = await reader.read(); next.value?.type !== "text-delta"; )
    next = await reader.read();
  await reader.cancel();
  while (counts.left === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(counts).toEqual({ held: 1, released: 1, left: 1 });
});

test("who stops without reading on lets go", async () => {
  const { provider, counts } = await serving((_asked, response) => say("one", response));
  const stopping = new AbortController();
  await open(provider, CALL, stopping.signal);
  expect(counts).toMatchObject({ held: 1, released: 0 });
  stopping.abort();
  expect(counts).toMatchObject({ held: 1, released: 1 });
});

test("a refusal lets go as well", async () => {
  const { counts, provider } = await serving((_asked, response) =>
    refuse("context_length_exceeded", response),
  );
  await expect(open(provider)).rejects.toMatchObject({ statusCode: 400 });
  expect(counts).toMatchObject({ held: 1, released: 1 });
});

test("a schema that no grammar holds is asked for in words, once", async () => {
  const { asked, counts, provider } = await serving(({ body }, response) => {
    const { type } = (body["response_format"] ?? {}) as { readonly type?: string };
    if (type === "json_schema") refuse("unsupported_schema", response);
    else say('{"n":1}', response);
  });
  const schema = { type: "object", properties: { n: { type: "number", minimum: 0 } } };
  const call: AiCall = {
    prompt: [{ role: "system", content: "Be brief." }, ...CALL.prompt],
    responseFormat: { type: "json", schema, name: "answer" },
  };
  const parts = await partsOf(await open(provider, call));
  expect(parts.at(-1)).toMatchObject({ type: "finish" });
  expect(asked.map(({ body }) => body["response_format"])).toMatchObject([
    { type: "json_schema" },
    { type: "json_object" },
  ]);
  const [, second] = asked;
  const [system] = (second?.body["messages"] ?? []) as { readonly content: string }[];
  expect(system?.content).toBe(
    `Be brief.\n\nAnswer with one JSON value and nothing else: no prose, no code fence. It must match this JSON Schema:\n${JSON.stringify(schema)}`,
  );
  expect(counts).toMatchObject({ held: 2, released: 2 });
});

test.each([
  ["not_found", "model_unavailable"],
  ["invalid_model", "model_unavailable"],
  ["engine_missing", "model_unavailable"],
  ["state_conflict", "model_unavailable"],
  ["model_out_of_memory", "unavailable"],
  ["model_busy", "ai_rate_limit"],
  ["runner_crashed", "ai_server"],
  ["load_failed", "ai_server"],
])("what the manager refuses with %s is %s to the node", async (code, expected) => {
  const models: LocalModels = {
    list: () => [],
    acquire: () => Promise.reject(Object.assign(new Error("the model tiny"), { code })),
  };
  const opened = open(createLocalProvider(models, { fetch }));
  await expect(opened).rejects.toMatchObject({ code: expected, message: "the model tiny" });
});

test("what is no refusal of a manager tells nothing of itself", async () => {
  const opened = open(createLocalProvider(never, { fetch }));
  await expect(opened).rejects.toMatchObject({
    code: "ai_server",
    message: "the model tiny failed",
  });
});
