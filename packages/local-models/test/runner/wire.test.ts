/** The wire of a loaded model: the real engine, tiny models, and whatever a client may send. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describeUnless, noLocalEngine } from "@millrace/test-support";
import { sharedFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { isAlive } from "@millrace/test-support/processes";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Runners } from "../../src/runner/runners.ts";

import { ENGINE, fileOf, handClock, model } from "./support.ts";

// Loading the engine takes a second; where every processor has ten programs to run, a minute.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const SAYS = "Hello from a very small local model .";
const ASK = [{ role: "user", content: "say it" }];

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers
  readonly body: any;
}

describeUnless(await noLocalEngine())("the wire", () => {
  const dir = sharedFolder();
  const runners: Runners = new Runners({
    dir,
    writable: true,
    settings: { maxLoaded: 2 },
    clock: handClock(),
    engine: () => ({ version: "", source: "peer", entry: ENGINE }),
    used() {},
    log() {},
  });
  const paths = {
    chain: fileOf(dir, "chain.gguf", tinyGguf({ text: SAYS })),
    random: fileOf(dir, "random.gguf", tinyGguf({ mode: "random" })),
  };
  type Name = keyof typeof paths;
  const at = {} as Record<Name, { readonly baseUrl: string; readonly token: string }>;

  beforeAll(async () => {
    for (const name of ["chain", "random"] as const) {
      at[name] = await runners.acquire(model(name, { path: paths[name] }));
    }
  });
  afterAll(() => runners.close());

  async function send(name: Name, path: string, init: RequestInit = {}): Promise<Response> {
    const { baseUrl, token } = at[name];
    const headers = { authorization: `Bearer ${token}`, ...init.headers };
    return fetch(new URL(path, `${baseUrl}/`), { ...init, headers });
  }

  async function post(name: Name, path: string, body: unknown): Promise<Answer> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await send(name, path, { method: "POST", body: text });
    return { status: response.status, body: await response.json() };
  }

  const chat = (name: Name, more: object): Promise<Answer> =>
    post(name, "chat/completions", { messages: ASK, temperature: 0, ...more });

  /** Data of a stream, up to `[DONE]`. */
  async function streamed(name: Name, more: object): Promise<Answer["body"][]> {
    const body = JSON.stringify({ messages: ASK, temperature: 0, stream: true, ...more });
    const response = await send(name, "chat/completions", { method: "POST", body });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = (await response.text())
      .split("\n\n")
      .map((event) => event.slice("data: ".length));
    expect(events.splice(-2)).toEqual(["[DONE]", ""]);
    return events.map((event) => JSON.parse(event));
  }

  test("a whole answer is the text, its end, and what it took", async () => {
    const { status, body } = await chat("chain", {});
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: SAYS }, finish_reason: "stop" }],
      usage: { prompt_tokens: expect.any(Number), completion_tokens: 9 },
    });
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + 9);
  });

  test("a stream is the same text in pieces, then its end, then what it took", async () => {
    const events = await streamed("chain", { stream_options: { include_usage: true } });
    const choices = events.map(({ choices: [choice] }) => choice);
    expect(choices.map((choice) => choice?.delta.content ?? "").join("")).toBe(SAYS);
    expect(choices.filter(Boolean).at(-1)).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(events.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 9 } });
    expect(events.length).toBeGreaterThan(3);
  });

  test("max_tokens cuts with the reason length, and a stop word with the reason stop", async () => {
    const cut = await chat("chain", { max_tokens: 3 });
    expect(cut.body.choices[0]).toMatchObject({ finish_reason: "length" });
    expect(SAYS.startsWith(cut.body.choices[0].message.content)).toBe(true);
    const stopped = await chat("chain", { stop: ["small"] });
    expect(stopped.body.choices[0]).toMatchObject({
      message: { content: "Hello from a very " },
      finish_reason: "stop",
    });
  });

  test("the same seed babbles the same, another one something else", async () => {
    const say = async (more: object) =>
      (await chat("random", { temperature: 1, max_tokens: 30, ...more })).body.choices[0].message
        .content;
    expect(await say({ seed: 7 })).toBe(await say({ seed: 7 }));
    expect(await say({ seed: 7 })).not.toBe(await say({ seed: 8 }));
    const penalties = { temperature: 0, frequency_penalty: 1.5, presence_penalty: 0.5 };
    expect(await say(penalties)).not.toBe(await say({ temperature: 0 }));
    expect(await say({ top_k: 1 })).toBe(await say({ temperature: 0 }));
  });

  const SCHEMA = {
    type: "object",
    required: ["kind", "tags"],
    additionalProperties: false,
    properties: {
      kind: { enum: ["a", "b"] },
      note: { type: ["string", "null"], maxLength: 12 },
      count: { type: "integer" },
      tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1, maxItems: 2 },
    },
    $defs: { tag: { anyOf: [{ const: "x" }, { type: "boolean" }] } },
  };
  const FITS = {
    kind: expect.stringMatching(/^[ab]$/),
    count: expect.toSatisfy(Number.isSafeInteger),
    tags: expect.toSatisfy((tags: unknown[]) =>
      tags.every((tag) => tag === "x" || typeof tag === "boolean"),
    ),
  };

  test.each([
    [
      "response_format",
      { response_format: { type: "json_schema", json_schema: { schema: SCHEMA } } },
    ],
    ["json_schema", { json_schema: SCHEMA }],
  ])("%s holds even a model that babbles", async (_name, more) => {
    for (const seed of [1, 2, 3]) {
      const { body } = await chat("random", { temperature: 1, seed, ...more });
      const [{ message, finish_reason }] = body.choices;
      expect(finish_reason).toBe("stop");
      expect(JSON.parse(message.content)).toMatchObject(FITS);
    }
  });

  test.each<[string, unknown]>([
    ["pattern", { type: "string", pattern: "^a" }],
    ["minimum", { type: "number", minimum: 0 }],
    ["uniqueItems", { type: "array", items: { type: "boolean" }, uniqueItems: true }],
    ["required", { type: "object", properties: {}, required: ["a"] }],
    ["an enum of lists", { enum: [[1]] }],
    ["$ref", { $ref: "#/definitions/a" }],
    ["nothing fits", { type: "object", properties: { a: false } }],
  ])("a schema that the grammar cannot hold is refused: %s", async (what, schema) => {
    const { status, body } = await chat("random", {
      json_schema: { type: "object", properties: { at: schema } },
    });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: "unsupported_schema",
      message: expect.stringContaining(what),
    });
  });

  const TOOLS = ["look", "tell"].map((name) => ({
    type: "function",
    function: {
      name,
      description: "",
      parameters: { type: "object", properties: { where: { enum: ["here", "there"] } } },
    },
  }));

  test("a tool that must be called is called, with arguments of its schema", async () => {
    const { body } = await chat("random", {
      temperature: 1,
      seed: 3,
      tools: TOOLS,
      tool_choice: "required",
    });
    const [{ message, finish_reason }] = body.choices;
    expect(finish_reason).toBe("tool_calls");
    expect(message).toMatchObject({ content: null, tool_calls: [{ type: "function" }] });
    const [{ function: called }] = message.tool_calls;
    expect(["look", "tell"]).toContain(called.name);
    expect(JSON.parse(called.arguments)).toEqual({ where: expect.stringMatching(/here/) });
    const events = await streamed("random", {
      tools: TOOLS,
      tool_choice: { type: "function", function: { name: "tell" } },
    });
    const delta = events.find(({ choices }) => choices[0]?.delta.tool_calls)?.choices[0].delta;
    expect(delta.tool_calls).toMatchObject([{ index: 0, function: { name: "tell" } }]);
    expect(events.at(-1)?.choices[0].finish_reason).toBe("tool_calls");
  });

  test("a model may leave tools alone, and the results of earlier calls are part of what it reads", async () => {
    const plain = await chat("chain", {});
    const offered = await chat("chain", { tools: TOOLS });
    expect(offered.body.choices[0].message).toEqual({ role: "assistant", content: SAYS });
    const none = await chat("chain", { tools: TOOLS, tool_choice: "none" });
    expect(none.body.usage).toEqual(plain.body.usage);
    const calls = [
      { id: "c1", type: "function", function: { name: "look", arguments: '{"where":"here"}' } },
    ];
    const messages = [
      ...ASK,
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "c1", content: "a long result of a tool ".repeat(4) },
    ];
    const after = await chat("chain", { messages, tools: TOOLS });
    expect(after.status).toBe(200);
    expect(after.body.usage.prompt_tokens).toBeGreaterThan(offered.body.usage.prompt_tokens + 20);
  });

  test("what does not fit the context is refused by its code, and an answer ends where the context does", async () => {
    const messages = [{ role: "user", content: "x ".repeat(3_000) }];
    const long = await chat("chain", { messages });
    expect(long).toMatchObject({
      status: 400,
      body: { error: { code: "context_length_exceeded" } },
    });
    const room = [{ role: "user", content: "x ".repeat(1_000) }];
    const { body } = await chat("random", { messages: room, temperature: 1, seed: 1 });
    expect(body.choices[0].finish_reason).toBe("length");
    expect(body.usage.total_tokens).toBeLessThanOrEqual(2_048);
  });

  test("embeddings are vectors in the order of their texts", async () => {
    const both = await post("random", "embeddings", { input: ["one", "another text"] });
    expect(both.body.data.map(({ index }: { index: number }) => index)).toEqual([0, 1]);
    const one = await post("random", "embeddings", { input: "another text" });
    expect(one.body.data[0].embedding).toHaveLength(128);
    expect(one.body.data[0].embedding).toEqual(both.body.data[1].embedding);
    const long = await post("random", "embeddings", { input: "x ".repeat(3_000) });
    expect(long.body.error.code).toBe("context_length_exceeded");
  });

  test("models and health are told", async () => {
    expect(await (await send("chain", "models")).json()).toMatchObject({
      object: "list",
      data: [{ id: "local" }],
    });
    expect(await (await send("chain", "/health")).json()).toEqual({ status: "ok" });
  });

  test.each<[string, unknown, number, string]>([
    ["no JSON", "{", 400, "invalid_request"],
    ["no messages", { messages: [] }, 400, "invalid_request"],
    ["an unknown role", { messages: [{ role: "king", content: "" }] }, 400, "invalid_request"],
    [
      "a picture",
      { messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      400,
      "unsupported",
    ],
    ["a temperature that is none", { messages: ASK, temperature: "hot" }, 400, "invalid_request"],
    ["half a token", { messages: ASK, max_tokens: 0.5 }, 400, "invalid_request"],
    ["an empty stop", { messages: ASK, stop: [""] }, 400, "invalid_request"],
    ["a tool without a name", { messages: ASK, tools: [{ function: {} }] }, 400, "invalid_request"],
    [
      "a choice of no tool",
      { messages: ASK, tools: TOOLS, tool_choice: { function: { name: "x" } } },
      400,
      "invalid_request",
    ],
    ["tools with a schema", { messages: ASK, tools: TOOLS, json_schema: {} }, 400, "unsupported"],
  ])("%s is refused", async (_what, body, status, code) => {
    expect(await post("chain", "chat/completions", body)).toMatchObject({
      status,
      body: { error: { code } },
    });
  });

  test("nobody gets in without the token or under another name, and nobody from another page", async () => {
    expect(
      (await send("chain", "models", { headers: { authorization: "Bearer no" } })).status,
    ).toBe(401);
    expect((await send("chain", "models", { headers: { authorization: "" } })).status).toBe(401);
    expect((await send("chain", "nothing")).status).toBe(404);
    const answer = await send("chain", "models", { headers: { origin: "http://evil.example" } });
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    );
    const { baseUrl, token } = at.chain;
    const other = request(`${baseUrl}/models`, {
      headers: { host: "evil.example", authorization: `Bearer ${token}` },
    }).end();
    const [response] = await once(other, "response");
    response.resume();
    expect(response.statusCode).toBe(403);
    const large = request(`${baseUrl}/embeddings`, {
      method: "POST",
      headers: { "content-length": 40_000_000, authorization: `Bearer ${token}` },
    });
    large.on("error", () => {}); // the socket of a refused body is closed
    large.flushHeaders();
    const [refusal] = await once(large, "response");
    expect(refusal.statusCode).toBe(413);
    large.destroy();
  });

  test("a client that leaves ends its answer, and the next one does not wait for it", async () => {
    const leaving = new AbortController();
    const body = JSON.stringify({ messages: ASK, temperature: 1, seed: 5, stream: true });
    const response = await send("random", "chat/completions", {
      method: "POST",
      body,
      signal: leaving.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    const { body: next } = await chat("random", { max_tokens: 2 });
    expect(next.usage.completion_tokens).toBe(2);
  });

  test("the token is in no argument, variable or file of the process", () => {
    for (const name of ["chain", "random"] as const) {
      const { token } = at[name];
      expect(token.length).toBeGreaterThanOrEqual(43);
      const { pid } = runners.runtime(name) ?? {};
      const seen = ["cmdline", "environ"].map((file) => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, "utf8");
        } catch {
          return ""; // not on this platform
        }
      });
      const notes = readdirSync(dir)
        .filter((file) => file.endsWith(".json"))
        .map((file) => readFileSync(join(dir, file), "utf8"));
      expect(notes.length).toBe(2);
      for (const text of [...seen, ...notes]) expect(text).not.toContain(token);
      expect(seen[1]).not.toContain("VITEST");
    }
  });

  test("a runner whose parent is killed ends by itself", async () => {
    const script = fileURLToPath(new URL("parent.js", import.meta.url));
    const runner = fileURLToPath(new URL("../../src/runner/runner.js", import.meta.url));
    const parent = spawn(process.execPath, [script, runner, paths.chain, ENGINE], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface(parent.stdout), "line");
    const pid = Number(line);
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});
