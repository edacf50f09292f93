/** Answers written down once and given again. */
import type { AiProvider } from "@millrace/contracts";
import {
  answerKey,
  createRecordedProviders,
  createScriptedProvider,
  parseAnswers,
  recordProvider,
  type ScriptEntry,
} from "@millrace/providers";
import { expect, test } from "vitest";
import { ask, contextWith, KEY, partsOf, textOf } from "../support/providers.ts";

/** Asks the questions of a scripted provider and answers the file that comes of it. */
async function record(
  script: readonly ScriptEntry[],
  questions: readonly string[],
): Promise<string> {
  const lines: string[] = [];
  let clock = 0;
  const provider = recordProvider(createScriptedProvider(script), {
    sink: (line) => void lines.push(line),
    now: () => clock++,
  });
  const model = await provider.languageModel("m", contextWith());
  for (const question of questions) await partsOf(model, ask(question)).catch(() => {});
  return `${lines.join("\n")}\n`;
}

async function asked(provider: AiProvider, question: string): Promise<string> {
  const model = await provider.languageModel("m", contextWith());
  return textOf(await partsOf(model, ask(question)));
}

test("what was recorded is answered again, equal questions in the order of the file, the last one for ever", async () => {
  const file = await record([{ text: "one" }, { text: "two" }, { text: "other" }], ["q", "q", "r"]);
  const [provider] = createRecordedProviders(parseAnswers(file)) as [AiProvider];
  const answers = [];
  for (const question of ["q", "r", "q", "q"]) answers.push(await asked(provider, question));
  expect(answers).toEqual(["one", "other", "two", "two"]);
});

test("errors are recorded too, before an answer and in the middle of one", async () => {
  const file = await record(
    [{ error: { reason: "rate_limit", retryAfterMs: 250 } }, { text: "a b c", cutAfter: 1 }],
    ["q", "r"],
  );
  expect(parseAnswers(file).map(({ error }) => error)).toEqual([
    { status: 429, retryAfterMs: 250 },
    { reason: "network" },
  ]);
  const [provider] = createRecordedProviders(parseAnswers(file)) as [AiProvider];
  await expect(asked(provider, "q")).rejects.toMatchObject({ statusCode: 429 });
  await expect(asked(provider, "r")).rejects.toMatchObject({ code: "network" });
});

test("a question that nobody asked before fails with its key, and nothing is requested", async () => {
  const [provider] = createRecordedProviders([]) as [AiProvider];
  await expect(asked(provider, "q")).rejects.toMatchObject({
    code: "fixture_missing",
    message: expect.stringContaining(answerKey(ask("q"))),
  });
});

test("the key counts what is asked, not how it travels", () => {
  const key = answerKey(ask("q"));
  expect(key).toMatch(/^sha256:[0-9a-f]{64}$/);
  const travels = { abortSignal: new AbortController().signal, headers: { a: "b" } };
  expect(answerKey(ask("q", { ...travels, providerOptions: { openai: { a: 1 } } }))).toBe(key);
  expect(answerKey(ask("q", { temperature: 0 }))).not.toBe(key);
  expect(answerKey(ask("q", { responseFormat: { type: "json", schema: {} } }))).not.toBe(key);
});

test("a key that a model repeats is not written", async () => {
  const file = await record([{ text: `your key is ${KEY}` }], ["q"]);
  expect(file).not.toContain(KEY);
  expect(file).toContain("[redacted]");
});

test("a key that comes in pieces is not written, and what stands around it is", async () => {
  const lines: string[] = [];
  const halves = ["it is ", KEY.slice(0, 5), KEY.slice(5), " so"];
  const inner: AiProvider = {
    ...createScriptedProvider([]),
    languageModel: () => ({
      specificationVersion: "v3",
      provider: "p",
      modelId: "m",
      doStream: async () => {
        const parts = [
          ...halves.map((delta) => ({ type: "text-delta", id: "0", delta })),
          { type: "finish", finishReason: "stop" },
        ].values();
        return {
          stream: {
            getReader: () => ({
              read: async () => {
                const { done, value } = parts.next();
                return done === true ? { done } : { done: false, value };
              },
              cancel: async () => {},
            }),
          },
        };
      },
    }),
  };
  const provider = recordProvider(inner, { sink: (line) => void lines.push(line) });
  await partsOf(await provider.languageModel("m", contextWith()), ask("q"));
  const parts = parseAnswers(lines.join("\n"))[0]?.parts ?? [];
  expect(parts.map(({ part }) => part["delta"])).toEqual(["it is [redacted] so", undefined]);
});

test("a recorded answer may be played in its own time", async () => {
  const part = (delta: string) => ({ type: "text-delta", id: "0", delta });
  const answers = [
    {
      key: answerKey(ask("q")),
      parts: [
        { atMs: 1, part: part("a") },
        { atMs: 3, part: part("b") },
      ],
    },
  ];
  const [provider] = createRecordedProviders(answers, undefined, { speed: 1 }) as [AiProvider];
  expect(await asked(provider, "q")).toBe("ab");
});

test("a line that is none is told by its number, without its text", () => {
  expect(() => parseAnswers('{"key":"k","parts":[]}\n\nsecret text\n')).toThrow(
    expect.objectContaining({
      code: "fixture_invalid",
      message: expect.stringContaining("line 3"),
    }),
  );
});
