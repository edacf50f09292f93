/** Providers, and servers behind them, that say what none should: it ends in a reason, in a legal log and in bounded memory. */
import { aiSettings } from "@millrace/ai";
import type { AiEmbedding, AiPart, NodeSucceeded } from "@millrace/contracts";
import { one, start } from "@millrace/test-support/flows";
import {
  apiError,
  ask,
  type Entry,
  flowOf,
  lines,
  type Scripted,
  scripted,
} from "@millrace/test-support/models";
import { describe, expect, test } from "vitest";

/** What makers write in an ordinary 429, and what is no word of a code. */
const LIMITS = [
  "Rate limit reached. You can add a payment method at https://maker.example/account/billing.",
  "You exceeded your current quota, please check your plan and billing details.",
];

test.each(LIMITS)("a limit that speaks of money in its text is a limit: %s", async (message) => {
  const error = { message, code: "rate_limit_exceeded" };
  const fail = apiError(429, { responseBody: JSON.stringify({ error }), data: { error } });
  const { events, summary } = await ask("", [{ fail }, { text: "ok" }]);
  expect(one(events, "llm.failed")).toMatchObject({ reason: "rate_limit", next: "retry" });
  expect(summary.status).toBe("succeeded");
});

test("the code of a body that the package could not read counts, too", async () => {
  const responseBody = '{"error":{"code":"insufficient_quota"}}';
  const { events } = await ask("", [{ fail: apiError(429, { responseBody }) }]);
  expect(one(events, "llm.failed")).toMatchObject({ reason: "quota", next: "none" });
});

test.each<[string, Entry]>([
  ["a wait without end", { fail: apiError(503, { responseHeaders: { "retry-after": "1e999" } }) }],
  ["a wait of its own", { fail: { reason: "server", retryAfterMs: Number.POSITIVE_INFINITY } }],
  ["half a millisecond", { fail: { reason: "server", retryAfterMs: 0.5 } }],
  ["a status below all", { fail: apiError(-1) }],
  ["a name of every object", { fail: Object.assign(new Error("x"), { name: "constructor" }) }],
  ["a finish of every object", { text: "a", finish: "constructor" }],
])("%s leaves a log that can be read", async (_, entry) => {
  const { summary } = await ask("failoverRetries = 0", [entry]);
  expect(["ai_server", undefined]).toContain(summary.error?.code);
});

test("calls of tools count as output, whatever came before them", async () => {
  const tools = Array.from({ length: 200 }, (_, at) => ({ name: `no_such_tool_${at}` }));
  const { summary } = await ask("maxOutputBytes = 1024", [{ text: "a", tools }]);
  expect(summary.error?.code).toBe("ai_max_output");
});

/** As the AI SDK reports a frame that fits none of its schemas. */
function unfit(value: object): AiPart {
  const error = Object.assign(new Error("Type validation failed"), {
    name: "AI_TypeValidationError",
    value,
  });
  return { type: "error", error };
}

describe.each(["v3", "v4"] as const)("a model of the specification %s", (version) => {
  const text = (delta: string): AiPart => ({ type: "text-delta", id: "1", delta });
  const answer = async (parts: readonly unknown[]) => {
    const { events, summary } = await ask("failoverRetries = 0", [{ parts: parts as AiPart[] }], {
      model: { version },
    });
    const ended = events.find((e) => e.kind === "node.succeeded") as NodeSucceeded | undefined;
    return { output: ended?.output as { text: string; finish: string }, status: summary.status };
  };

  test("may send parts of an unknown kind, and what is no part", async () => {
    const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} };
    const odd = [{ type: "x-new", data: 1 }, {}, null, "text", 7, { type: 7 }];
    const { output, status } = await answer([...odd, text("a"), ...odd, text("b"), ...odd, finish]);
    expect([output.text, output.finish, status]).toEqual(["ab", "stop", "succeeded"]);
  });

  test("may have met a frame of an unknown kind after its reason to end", async () => {
    const finish = {
      type: "finish",
      finishReason: { unified: "error", raw: undefined },
      usage: {},
    };
    const { output, status } = await answer([text("a"), unfit({ type: "x_new" }), finish]);
    expect([output.text, output.finish, status]).toEqual(["a", "stop", "succeeded"]);
  });

  test.each<[string, object]>([
    ["an answer that does not fit", { type: "x", choices: [{}] }],
    ["an error", { type: "x", error: { message: "no" } }],
    ["a broken frame of a known kind", { type: "message_delta" }],
  ])("fails with %s", async (_name, frame) => {
    const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} };
    expect((await answer([text("a"), unfit(frame), finish])).status).toBe("failed");
  });
});

/** A provider of vectors that says this of itself. */
function vectors(model: Partial<AiEmbedding>): Scripted & { asked: number } {
  const provider = {
    ...scripted([]),
    asked: 0,
    embeddingModel: (): AiEmbedding => ({
      specificationVersion: "v3",
      provider: "mock",
      modelId: "e",
      doEmbed: async ({ values }) => {
        provider.asked += 1;
        if (provider.asked > 9) throw apiError(400); // a loop without end would not be seen to fail
        return { embeddings: values.map(() => [1]), usage: { tokens: -5 } };
      },
      ...model,
    }),
  };
  return provider;
}

test.each([0, Number.NaN, -1])("a batch of %d texts is one of one", async (most) => {
  const provider = vectors({ maxEmbeddingsPerCall: most });
  const { events, end } = await start(flowOf('task = "embed"\ninput = ["a", "b"]'), {
    engine: { settings: [aiSettings({ providers: [provider] })] },
  });
  const summary = await end();
  expect([summary.status, provider.asked]).toEqual(["succeeded", 2]);
  expect(one(events, "node.succeeded").output).toMatchObject({ output: [[1], [1]], usage: null });
});

const judging = (target: string) =>
  `credential = "team"\nexpect = [{ kind: "judge", rubric: "r", target: ${target} }]`;
const VERDICT = '{"score":1,"reason":"r"}';

test("a judge of the node's own provider has the node's key, one of another provider has not", async () => {
  const asked: unknown[] = [];
  const credentials = {
    resolve: async ({ provider, reference }: { provider: string; reference?: string }) => {
      asked.push([provider, reference]);
      return {};
    },
  };
  const others = [scripted([{ text: VERDICT }], { id: "judge" })];
  const own = judging('{ provider: "mock", modelId: "j" }');
  await ask(own, [{ text: "x" }, { text: VERDICT }], { ai: { credentials } });
  await ask(judging('{ provider: "judge", modelId: "j" }'), [{ text: "x" }], {
    ai: { credentials },
    others,
  });
  expect(asked).toEqual([
    ["mock", "team"],
    ["mock", "team"],
    ["judge", undefined],
  ]);
});

test.each([
  "params: { temperature: 99 }",
  'params: { credential: "other" }',
  'credential: "env:HOME"',
  'provider: "https://maker.example"',
])("a judge is named as any other model: %s is refused", async (member) => {
  const provider = member.startsWith("provider") ? "" : 'provider: "mock", ';
  const target = `{ ${provider}modelId: "j", ${member} }`;
  await expect(ask(judging(target), [{ text: "x" }, { text: VERDICT }])).rejects.toThrow(
    /FLOW300[35]/,
  );
});

test("one call at a time finds out whether a model is back", async () => {
  const circuit = { failures: 1, coolDownMs: 1_000 };
  const mock = scripted([{ fail: apiError(500) }, { after: "hang" }]);
  const spare = scripted([{ text: "a" }, { text: "b" }, { text: "c" }], { id: "spare" });
  const fields = 'failover = [{ provider: "spare", modelId: "s" }]\nfailoverRetries = 0';
  const two = ["p", "q"].map(
    (id) => `${flowOf(fields).replace("node ask", `node ${id}`)}wait -> ${id}\n`,
  );
  const { events, end } = await start(
    flowOf(fields, `node wait: delay { for = 2s }\nask -> wait\n${two.join("")}`),
    { engine: { settings: [aiSettings({ providers: [mock, spare], circuit })] } },
  );
  await end();
  expect(lines(events).filter((line) => line.startsWith("log"))).toEqual([
    "log (q) ai_circuit_open",
  ]);
  expect([mock.calls.length, spare.calls.length]).toEqual([2, 3]);
});
