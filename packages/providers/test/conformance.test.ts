/** The suite that every provider passes, over the built-in ones, and over one that does everything wrong. */
import type { AiProvider } from "@millrace/contracts";
import { createProviders } from "@millrace/providers";
import { describe, expect, test } from "vitest";
import {
  type ConformanceSetup,
  providerConformance,
} from "../../testkit/src/providers/conformance.ts";

const providers = createProviders({
  providers: {
    chat: { kind: "openai", api: "chat" },
    local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" },
  },
});
const named = (name: string): AiProvider => providers.find(({ id }) => id === name) as AiProvider;

const SETUPS: readonly ConformanceSetup[] = [
  { provider: named("openai"), modelId: "gpt-4.1", wire: "responses" },
  { provider: named("chat"), modelId: "gpt-4.1", wire: "chat" },
  { provider: named("anthropic"), modelId: "claude-haiku-4-5", wire: "messages" },
  { provider: named("local"), modelId: "any", wire: "chat", keyless: true },
  { provider: named("mock"), modelId: "echo", wire: "none" },
];

describe.each(SETUPS)("$provider.id on $wire", (setup) => {
  for (const each of providerConformance(setup)) test(each.name, () => each.run());
});

test("the suite finds what is wrong: a provider that asks twice, mends, swallows and never stops", async () => {
  const inner = named("chat");
  const bad: AiProvider = {
    id: "bad",
    capabilities: async () => ({ tools: true }) as never,
    async languageModel(modelId, ctx) {
      const model = await inner.languageModel(modelId, {
        ...ctx,
        credentials: { apiKey: "other" },
      });
      return {
        ...model,
        async doStream({ abortSignal: _, ...call }) {
          await Promise.resolve(model.doStream(call)).catch(() => {});
          return {
            stream: {
              getReader: () => {
                const parts = [
                  { type: "text-delta", delta: "sorry" },
                  {
                    type: "finish",
                    finishReason: "stop",
                    usage: { inputTokens: 0, outputTokens: 0 },
                  },
                ];
                return {
                  read: async () => ({ done: parts.length === 0, value: parts.shift() }),
                  cancel: async () => {},
                };
              },
            },
          };
        },
      };
    },
  };
  const cases = providerConformance({ provider: bad, modelId: "m", wire: "chat" });
  const ends = await Promise.allSettled(cases.map((each) => each.run()));
  const passed = cases.filter((_, at) => ends[at]?.status === "fulfilled").map(({ name }) => name);
  expect(passed).toEqual(["arguments that are no JSON are not mended"]);
});
