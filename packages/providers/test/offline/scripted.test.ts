/** A provider that answers what a test says. */
import { createScriptedProvider, type ScriptEntry } from "@millrace/providers";
import { expect, test } from "vitest";
import { ask, contextWith, partOf, partsOf, textOf } from "../support/providers.ts";

async function play(...script: readonly ScriptEntry[]) {
  const provider = createScriptedProvider(script);
  const model = await provider.languageModel("m", contextWith());
  return { provider, next: () => partsOf(model, ask("hi")), model };
}

test("entries are answered in order, and past the last one there is nothing", async () => {
  const { next, provider } = await play({ text: "one" }, { object: { a: 1 } });
  expect(textOf(await next())).toBe("one");
  expect(textOf(await next())).toBe('{"a":1}');
  await expect(next()).rejects.toMatchObject({ code: "script_exhausted" });
  expect(provider.calls).toHaveLength(3);
  expect(provider.calls[0]?.modelId).toBe("m");
});

test("tool calls carry their arguments as text, whole or broken", async () => {
  const toolCalls = [
    { tool: "a", args: { x: 1 } },
    { tool: "b", args: '{"x":' },
  ];
  const { next } = await play({ toolCalls, usage: { inputTokens: 5, outputTokens: 2 } });
  const parts = await next();
  const calls = parts.filter(({ type }) => type === "tool-call");
  expect(calls.map(({ input }) => input)).toEqual(['{"x":1}', '{"x":']);
  expect(partOf(parts, "finish")).toMatchObject({
    finishReason: { unified: "tool-calls" },
    usage: { inputTokens: { total: 5 }, outputTokens: { total: 2 } },
  });
});

test.each([
  [
    { reason: "rate_limit", retryAfterMs: 250 },
    { statusCode: 429, responseHeaders: { "retry-after-ms": "250" } },
  ],
  [{ reason: "quota" }, { statusCode: 429, data: { error: { code: "insufficient_quota" } } }],
  [{ status: 418 }, { statusCode: 418 }],
  [{ reason: "network" }, { code: "network" }],
  [{ reason: "egress" }, { code: "egress_denied" }],
])("the error %j looks as the packages throw it", async (error, thrown) => {
  const { next } = await play({ error });
  await expect(next()).rejects.toMatchObject(thrown);
});

test("a cut breaks the stream after so many pieces", async () => {
  const { model } = await play({ text: "a b c", cutAfter: 2 });
  const { stream } = await model.doStream(ask("hi"));
  const reader = stream.getReader();
  const seen: unknown[] = [];
  const readAll = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value?.type === "text-delta") seen.push(value["delta"]);
    }
  };
  await expect(readAll()).rejects.toMatchObject({ code: "network" });
  expect(seen).toEqual(["a", " b"]);
});

test("silence lasts until the call is aborted", async () => {
  const { model } = await play({ text: "a b", hangAfter: 1 });
  const controller = new AbortController();
  const { stream } = await model.doStream(ask("hi", { abortSignal: controller.signal }));
  const reader = stream.getReader();
  while ((await reader.read()).value?.type !== "text-delta");
  const waiting = reader.read();
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});
