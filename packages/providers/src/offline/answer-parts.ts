/** An answer as the parts that a model of specification v3 streams. */
import type { AiPart } from "@millrace/contracts";

/** Counts of an answer; absent ones are unknown. */
export interface AnswerUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** A tool that an answer asks for; `args` is data, or text as it stands, JSON or not. */
export interface AnswerToolCall {
  readonly tool: string;
  readonly args?: unknown;
}

/** Text in pieces that begin with a word each. */
export function textParts(text: string): readonly AiPart[] {
  const pieces = text.match(/\s*\S+|\s+$/g) ?? [];
  if (pieces.length === 0) return [];
  return [
    { type: "text-start", id: "0" },
    ...pieces.map((delta) => ({ type: "text-delta", id: "0", delta })),
    { type: "text-end", id: "0" },
  ];
}

/** The calls of an answer, each whole. */
export function toolParts(calls: readonly AnswerToolCall[]): readonly AiPart[] {
  return calls.map(({ tool, args = {} }, index) => ({
    type: "tool-call",
    toolCallId: `call_${index + 1}`,
    toolName: tool,
    input: typeof args === "string" ? args : JSON.stringify(args),
  }));
}

/** The end of an answer; without `usage` nothing is known of its cost. */
export function finishPart(unified: string, usage: AnswerUsage | undefined): AiPart {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } =
    usage ?? {};
  return {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: {
        total: inputTokens,
        cacheRead: cachedInputTokens,
        cacheWrite: cacheWriteTokens,
      },
      outputTokens: { total: outputTokens, reasoning: reasoningTokens },
    },
  };
}
