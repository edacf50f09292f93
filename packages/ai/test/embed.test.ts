/** The task `embed`: vectors in batches, of one model. */
import { aiSettings } from "@millrace/ai";
import type { AiEmbedding } from "@millrace/contracts";
import { one, start } from "@millrace/test-support/flows";
import { apiError, flowOf, lines, type Scripted, scripted } from "@millrace/test-support/models";
import { expect, test } from "vitest";

/** A provider of vectors; each answer is a list, or something that is thrown. */
function vectors(answers: readonly unknown[], most?: number): Scripted & { asked: string[][] } {
  const asked: string[][] = [];
  const model: AiEmbedding = {
    specificationVersion: "v3",
    provider: "mock",
    modelId: "e",
    ...(most !== undefined && { maxEmbeddingsPerCall: most }),
    async doEmbed({ values }) {
      const answer = answers[asked.length];
      asked.push(values);
      if (answer instanceof Error) throw answer;
      return { embeddings: answer as number[][], usage: { tokens: values.length } };
    },
  };
  return { ...scripted([]), asked, embeddingModel: () => model };
}

async function embed(
  provider: Scripted,
  fields = 'input = ["a", "b", "c"]',
  others: Scripted[] = [],
) {
  const engine = { settings: [aiSettings({ providers: [provider, ...others] })] };
  const { events, end } = await start(flowOf(`task = "embed"\n${fields}`), { engine });
  return { summary: await end(), events };
}

test("vectors come in batches of what the model takes, in order", async () => {
  const provider = vectors([[[1], [2]], [[3]]], 2);
  const { events } = await embed(provider);
  expect(provider.asked).toEqual([["a", "b"], ["c"]]);
  expect(one(events, "node.succeeded", "ask").output).toMatchObject({
    output: [[1], [2], [3]],
    text: "",
    usage: { inputTokens: 3, outputTokens: 0 },
    steps: 2,
  });
  expect(lines(events).slice(2, -2)).toEqual([
    "llm.started c1 0 1 embed",
    "llm.finished c1 stop",
    "llm.started c2 0 2 embed",
    "llm.finished c2 stop",
  ]);
});

test.each([[[[[1]]]], [[[[1], [2, 3], [4]]]], [[[[1], ["x"], [2]]]], [["nonsense"]]])(
  "vectors that do not fit the texts fail: %j",
  async (answers) => {
    const { summary } = await embed(vectors([...answers, ...answers]));
    expect(summary.error?.code).toBe("ai_server");
  },
);

test("a failover in the middle begins again: vectors of two models are never mixed", async () => {
  const first = vectors([[[1], [2]], apiError(404)], 2);
  const second = { ...vectors([[[7]], [[8], [9], [10]]]), id: "spare" };
  const { events } = await embed(
    first,
    'input = ["a", "b", "c"]\nfailover = [{ provider: "spare", modelId: "s" }]',
    [second],
  );
  expect(second.asked).toEqual([["c"], ["a", "b", "c"]]);
  expect(one(events, "node.succeeded", "ask").output).toMatchObject({
    output: [[8], [9], [10]],
    provider: "spare",
  });
});

test("a provider without vectors is refused", async () => {
  const { summary } = await embed(scripted([]));
  expect(summary.error?.code).toBe("ai_bad_request");
});
