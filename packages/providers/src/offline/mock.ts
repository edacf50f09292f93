/**
 * The provider `mock`: answers without a network, a key or a cost, the same for the same question. Model `echo` answers the
 * input text; with a schema the smallest value that fits it, so that `classify` works offline too.
 */
import type {
  AiCall,
  AiEmbedding,
  AiMessage,
  AiModel,
  AiPart,
  AiProvider,
} from "@millrace/contracts";
import { NodeError } from "@millrace/contracts";
import { finishPart, textParts } from "./answer-parts.ts";
import { smallestValue } from "./smallest-value.ts";
import { streamOf } from "./stream.ts";

const MODEL = "echo";
const UNITS_PER_TOKEN = 4; // as makers estimate it for English
const DIMENSIONS = 8; // enough to tell texts apart in a demonstration

/** The provider. Any other model than `echo` is `ai_not_found`. */
export function mockProvider(): AiProvider {
  return {
    id: "mock",
    capabilities: async () => ({
      tools: true,
      jsonSchema: true,
      embed: true,
      files: ["*/*"],
      price: { input: 0, output: 0 },
    }),
    languageModel: (modelId) => echo(known(modelId)),
    embeddingModel: (modelId) => embed(known(modelId)),
    listModels: async () => [{ id: MODEL, title: "answers what it is asked" }],
  };
}

function known(modelId: string): string {
  if (modelId === MODEL) return modelId;
  throw new NodeError("ai_not_found", `the provider mock has the model ${MODEL} alone`, {
    reason: "not_found",
    status: 404,
    sent: false,
  });
}

function echo(modelId: string): AiModel {
  return {
    specificationVersion: "v3",
    provider: "mock",
    modelId,
    async doStream(call) {
      const answer = answerTo(call);
      const usage = { inputTokens: tokens(asked(call.prompt)), outputTokens: tokens(answer) };
      const parts: AiPart[] = [
        { type: "stream-start", warnings: [] },
        ...textParts(answer),
        finishPart("stop", usage),
      ];
      return {
        stream: streamOf(
          parts.map((part) => ({ part })),
          call.abortSignal,
        ),
      };
    },
  };
}

function answerTo({ prompt, responseFormat }: AiCall): string {
  const users = prompt.filter(({ role }) => role === "user").map(textOf);
  if (responseFormat?.type === "json" && responseFormat.schema !== undefined) {
    return JSON.stringify(smallestValue(responseFormat.schema, users.join("\n")));
  }
  return users.at(-1) ?? "";
}

/** The text of a message; the frame that presets put around a text is taken off. */
function textOf({ content }: AiMessage): string {
  const text = typeof content === "string" ? content : content.map(partText).join("");
  const framed = /^<text>\n([\s\S]*)\n<\/text>$/.exec(text)?.[1];
  return framed === undefined ? text : framed.replaceAll("<\\/text", "</text");
}

function partText(part: AiPart): string {
  const { text } = part as { readonly text?: unknown };
  return part.type === "text" && typeof text === "string" ? text : "";
}

function asked(prompt: readonly AiMessage[]): string {
  return prompt.map(textOf).join("\n");
}

function tokens(text: string): number {
  return Math.ceil(text.length / UNITS_PER_TOKEN);
}

function embed(modelId: string): AiEmbedding {
  return {
    specificationVersion: "v3",
    provider: "mock",
    modelId,
    doEmbed: async ({ values }) => ({
      embeddings: values.map(vectorOf),
      usage: { tokens: values.reduce((sum, text) => sum + tokens(text), 0) },
    }),
  };
}

const GOLDEN = 0x9e3779b1; // Knuth's multiplicative hash: neighbours in the alphabet fall apart

/** How often each of some classes of letters occurs, as a vector of length 1. */
function vectorOf(text: string): number[] {
  const counts = new Array<number>(DIMENSIONS).fill(0);
  for (let at = 0; at < text.length; at += 1) {
    const slot = Math.imul(text.charCodeAt(at), GOLDEN) >>> 29; // below DIMENSIONS
    counts[slot] = (counts[slot] ?? 0) + 1;
  }
  const length = Math.hypot(...counts) || 1;
  return counts.map((count) => count / length);
}
