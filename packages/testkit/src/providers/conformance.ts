/**
 * Laws of every AI provider, as cases for any test runner: `for (const c of providerConformance(…)) test(c.name, c.run)`.
 * The provider under test gets a `fetch` that answers in its wire; nothing goes out.
 */
import assert from "node:assert/strict";
import type { AiCall, AiContext, AiModel, AiPart, AiProvider } from "@millrace/contracts";
import type { ConformanceCase } from "../fixtures.ts";
import { type ScriptedAnswer, type ScriptedFetch, scriptedFetch } from "./scripted-fetch.ts";
import { WIRES, type Wire } from "./wires.ts";

/** The provider under test. */
export interface ConformanceSetup {
  readonly provider: AiProvider;
  /** A model of it. */
  readonly modelId: string;
  /** Protocol of its server; `none`: it answers without a server. */
  readonly wire: Wire | "none";
  /** Whether it works without a key; default false. */
  readonly keyless?: boolean;
}

const KEY = "sk-conformance-0123456789";
const TOOL = { type: "function", name: "look", inputSchema: { type: "object" } } as const;

/** The cases. */
export function providerConformance(setup: ConformanceSetup): readonly ConformanceCase[] {
  if (setup.wire === "none") return casesWithoutServer(setup);
  const { stream, error, errorEvent } = WIRES[setup.wire];
  const failing = (status: number, headers: ScriptedAnswer["headers"] = {}): ScriptedAnswer => ({
    status,
    headers: { "content-type": "application/json", ...headers },
    chunks: [JSON.stringify(error({ message: "no" }))],
  });
  const saying = (answer: Parameters<typeof stream>[0]): ScriptedAnswer => ({
    chunks: stream(answer),
  });
  /** An answer up to and with its first piece of text. */
  const begun = (ending?: "cut" | "silence"): ScriptedAnswer => {
    const events = stream({ text: ["one", "two"] });
    const untilText = 1 + events.findIndex((event) => event.includes('"one"'));
    return { chunks: events.slice(0, untilText), ...(ending && { ending }) };
  };
  const begin = (answer: ScriptedAnswer) => open(setup, answer);

  return [
    {
      name: "text arrives in order, between its beginning and the end of the answer",
      async run() {
        const parts = await read(await begin(saying({ text: ["one", " two"] })));
        assert.equal(textOf(parts), "one two");
        const types = parts.map(({ type }) => type);
        assert.equal(types.at(-1), "finish");
        assert.deepEqual(finishOf(parts).reason, "stop");
      },
    },
    {
      name: "an answer in single bytes is the same answer",
      async run() {
        const bytes = Buffer.from(stream({ text: ["one two"] }).join(""), "latin1");
        const chunks = [...bytes].map((byte) => String.fromCharCode(byte));
        assert.equal(textOf(await read(await begin({ chunks }))), "one two");
      },
    },
    {
      name: "counts are told, and those that nobody tells are absent",
      async run() {
        const told = await read(
          await begin(saying({ text: ["a"], usage: { input: 7, output: 3 } })),
        );
        assert.deepEqual(finishOf(told).counts, [7, 3]);
        if (setup.wire === "messages") return; // there are no answers without counts on this wire
        const silent = await read(await begin(saying({ text: ["a"], usage: null })));
        assert.deepEqual(finishOf(silent).counts, [undefined, undefined]);
      },
    },
    {
      name: "an answer that was cut at its greatest length says so",
      async run() {
        const parts = await read(await begin(saying({ text: ["a"], finish: "length" })));
        assert.equal(finishOf(parts).reason, "length");
      },
    },
    {
      name: "tool calls arrive with their names and their arguments as text",
      async run() {
        if (!(await usesTools(setup))) return;
        const toolCalls = [{ name: "look", args: '{"q":"a"}' }];
        const parts = await read(await begin(saying({ toolCalls })), { tools: [TOOL] });
        const call = parts.find(({ type }) => type === "tool-call");
        assert.deepEqual([call?.["toolName"], call?.["input"]], ["look", '{"q":"a"}']);
        assert.equal(finishOf(parts).reason, "tool-calls");
      },
    },
    {
      name: "arguments that are no JSON are not mended",
      async run() {
        if (!(await usesTools(setup))) return;
        const toolCalls = [{ name: "look", args: '{"q":' }];
        const parts = await read(await begin(saying({ toolCalls })), { tools: [TOOL] }).catch(
          () => [],
        );
        const call = parts.find(({ type }) => type === "tool-call");
        if (call !== undefined) assert.equal(call["input"], '{"q":');
      },
    },
    {
      name: "one call is one request, with the key in a header alone",
      async run() {
        const opened = await begin(saying({ text: ["a"] }));
        await read(opened);
        const [request, ...more] = opened.network.requests;
        assert.deepEqual(more, []);
        const { url, init } = request ?? { url: "", init: {} };
        assert.ok(!url.includes(KEY) && !String(init.body).includes(KEY));
        assert.ok(Object.values(init.headers ?? {}).some((value) => value.includes(KEY)));
      },
    },
    ...[400, 401, 429, 500, 529].map((status) => ({
      name: `status ${status} is thrown as it is, after one request`,
      async run() {
        const opened = await begin(failing(status, { "retry-after": "2" }));
        const thrown = await failure(read(opened));
        assert.equal(thrown["statusCode"], status);
        const headers = thrown["responseHeaders"] as { readonly [name: string]: string };
        assert.equal(headers["retry-after"], "2");
        assert.equal(opened.network.requests.length, 1);
      },
    })),
    {
      name: "a request that fails on its way is thrown, with what the way says of it",
      async run() {
        const error = new Error("the way is closed");
        const thrown = await failure(read(await begin({ error })));
        const chain = [thrown, thrown["cause"]];
        assert.ok(chain.includes(error as never));
      },
    },
    {
      name: "a stream that breaks off fails, and has no end",
      async run() {
        await failsWithoutEnd(await begin(begun("cut")));
      },
    },
    {
      name: "a stream that ends without a word that it does has no end",
      async run() {
        const parts = await read(await begin(begun())).catch(() => []);
        assert.ok(
          !parts.some((part) => part.type === "finish" && finishOf([part]).reason !== "error"),
        );
      },
    },
    {
      name: "an error in the stream is an error part, or is thrown",
      async run() {
        const { chunks = [] } = begun();
        const parts = await read(await begin({ chunks: [...chunks, errorEvent] })).catch(
          () => null,
        );
        if (parts !== null) assert.ok(parts.some(({ type }) => type === "error"));
      },
    },
    {
      name: "a reader that leaves ends the request",
      async run() {
        const opened = await begin(begun("silence"));
        const { stream: answer } = await opened.model.doStream(question());
        const reader = answer.getReader();
        while ((await reader.read()).value?.type !== "text-delta");
        await reader.cancel();
        await hasLeft(opened);
      },
    },
    {
      name: "an aborted call ends its request and rejects",
      async run() {
        const opened = await begin(begun("silence"));
        const controller = new AbortController();
        const reading = failure(read(opened, { abortSignal: controller.signal }));
        setImmediate(() => controller.abort(new Error("stop")));
        await reading;
        await hasLeft(opened);
      },
    },
    {
      name: "without a key nothing is asked, unless none is needed",
      async run() {
        if (setup.keyless === true) return;
        const network = scriptedFetch(saying({ text: ["a"] }));
        const asked = async () => {
          const model = await setup.provider.languageModel(setup.modelId, contextOf(network, {}));
          await read({ model, network });
        };
        const thrown = await failure(asked());
        assert.equal(thrown["code"], "credentials_missing");
        assert.equal(network.requests.length, 0);
      },
    },
    abilitiesCase(setup),
  ];
}

function casesWithoutServer(setup: ConformanceSetup): readonly ConformanceCase[] {
  const begin = () => open(setup, { error: new Error("there is no server") });
  return [
    {
      name: "text arrives in order, before the end of the answer, and nothing is asked of a server",
      async run() {
        const opened = await begin();
        const parts = await read(opened);
        assert.notEqual(textOf(parts), "");
        assert.equal(parts.at(-1)?.type, "finish");
        assert.equal(finishOf(parts).reason, "stop");
        assert.equal(opened.network.requests.length, 0);
      },
    },
    {
      name: "the same question has the same answer",
      async run() {
        assert.deepEqual(await read(await begin()), await read(await begin()));
      },
    },
    {
      name: "a reader that leaves gets nothing more",
      async run() {
        const { stream } = await (await begin()).model.doStream(question());
        const reader = stream.getReader();
        await reader.read();
        await reader.cancel();
        assert.equal((await reader.read()).done, true);
      },
    },
    {
      name: "an aborted call rejects with its reason",
      async run() {
        const reason = new Error("stop");
        const opened = await begin();
        const thrown = await failure(read(opened, { abortSignal: AbortSignal.abort(reason) }));
        assert.equal(thrown as unknown, reason);
      },
    },
    abilitiesCase(setup),
  ];
}

function abilitiesCase({ provider }: ConformanceSetup): ConformanceCase {
  return {
    name: "abilities are told without a network, of a model that nobody knows too",
    async run() {
      const { tools, jsonSchema } = await provider.capabilities("no-such-model");
      assert.deepEqual([typeof tools, typeof jsonSchema], ["boolean", "boolean"]);
    },
  };
}

/** A model that says it takes no tools is never given any. */
async function usesTools({ provider, modelId }: ConformanceSetup): Promise<boolean> {
  return (await provider.capabilities(modelId)).tools !== false;
}

interface Opened {
  readonly model: AiModel;
  readonly network: ScriptedFetch;
}

async function open(setup: ConformanceSetup, answer: ScriptedAnswer): Promise<Opened> {
  const network = scriptedFetch(answer);
  const context = contextOf(network, { apiKey: KEY });
  return { network, model: await setup.provider.languageModel(setup.modelId, context) };
}

function contextOf({ fetch }: ScriptedFetch, credentials: AiContext["credentials"]): AiContext {
  return { fetch, credentials, signal: new AbortController().signal };
}

function question(more: Partial<AiCall> = {}): AiCall {
  return {
    prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    maxOutputTokens: 100,
    ...more,
  };
}

async function read({ model }: Opened, more: Partial<AiCall> = {}): Promise<readonly AiPart[]> {
  const { stream } = await model.doStream(question(more));
  const reader = stream.getReader();
  const parts: AiPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    if (value !== undefined) parts.push(value);
  }
}

const TURNS = 100; // of the event loop, for a word that goes through a chain of streams

async function hasLeft({ network }: Opened): Promise<void> {
  for (let turn = 0; turn < TURNS && network.left() === 0; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(network.left(), 1);
}

/** A stream that breaks: it is thrown, or told by a part, and in no case is there a good end. */
async function failsWithoutEnd(opened: Opened): Promise<void> {
  const parts = await read(opened).catch(() => null);
  if (parts === null) return;
  assert.ok(
    parts.some(({ type }) => type === "error"),
    "neither thrown nor told",
  );
}

async function failure(work: Promise<unknown>): Promise<{ readonly [name: string]: unknown }> {
  try {
    await work;
  } catch (error) {
    return error as { readonly [name: string]: unknown };
  }
  return assert.fail("nothing was thrown");
}

function textOf(parts: readonly AiPart[]): string {
  const deltas = parts.filter(({ type }) => type === "text-delta");
  return deltas.map((part) => String(part["delta"])).join("");
}

function finishOf(parts: readonly AiPart[]): {
  readonly reason: unknown;
  readonly counts: readonly unknown[];
} {
  const finish = parts.find(({ type }) => type === "finish");
  assert.ok(finish, "there is no finish part");
  const reason = finish["finishReason"] as { readonly unified?: unknown } | string;
  const usage = (finish["usage"] ?? {}) as { readonly [name: string]: unknown };
  const total = (count: unknown): unknown =>
    typeof count === "object" ? (count as { readonly total?: unknown } | null)?.total : count;
  return {
    reason: typeof reason === "string" ? reason : reason?.unified,
    counts: [total(usage["inputTokens"]), total(usage["outputTokens"])],
  };
}
