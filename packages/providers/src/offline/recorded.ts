/**
 * A provider that answers from a file of recorded answers.
 *   R1  A call is found by its prompt alone. A miss fails with `fixture_missing`; nothing is ever asked of a network.
 *   R2  Equal prompts are answered in the order of the file; the last one repeats.
 */
import { createHash } from "node:crypto";
import {
  type AiCall,
  type AiPart,
  type AiProvider,
  NodeError,
  promptText,
} from "@millrace/contracts";
import { ProvidersError } from "../errors.ts";
import { type ErrorEntry, errorOf } from "./entry-error.ts";
import { streamOf, type TimedPart } from "./stream.ts";

/** One line of `answers.ndjson`. */
export interface RecordedAnswer {
  /** `sha256:` and the hash of the prompt. */
  readonly key: string;
  readonly error?: ErrorEntry;
  /** `atMs` counts from the call. */
  readonly parts: readonly { readonly atMs: number; readonly part: AiPart }[];
}

/** Key of a call: SHA-256 of its messages, tools, sampling and schema. */
export function answerKey(call: AiCall): string {
  return `sha256:${createHash("sha256").update(promptText(call)).digest("hex")}`;
}

/** Reads the lines of a file; empty ones are skipped. Throws `ProvidersError` `fixture_invalid` with the number of the line. */
export function parseAnswers(text: string): readonly RecordedAnswer[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    let value: Partial<RecordedAnswer> | null = null;
    try {
      value = JSON.parse(line) as Partial<RecordedAnswer> | null;
    } catch {
      // told below, without the text
    }
    if (typeof value?.key !== "string" || !Array.isArray(value.parts)) {
      throw new ProvidersError(
        "fixture_invalid",
        `line ${index + 1} of the recorded answers is not {"key", "parts"}`,
      );
    }
    return [value as RecordedAnswer];
  });
}

/** The members of a provider that its recording keeps: prompts depend on its capabilities. */
type Recorded = Pick<AiProvider, "id" | "capabilities">;

const ANY: Recorded = {
  id: "recorded",
  capabilities: async () => ({ tools: true, jsonSchema: true }),
};

/**
 * Providers that answer from one recording: equal prompts get their answers in the order of the file, whichever of them is asked.
 * `providers` default to one, `recorded`, with tools and JSON Schema. `speed` 1 plays in recorded time, 0 (the default) at once.
 */
export function createRecordedProviders(
  answers: readonly RecordedAnswer[],
  providers: readonly Recorded[] = [ANY],
  { speed = 0 }: { readonly speed?: 0 | 1 } = {},
): readonly AiProvider[] {
  const byKey = new Map<string, RecordedAnswer[]>();
  for (const answer of answers) {
    byKey.set(answer.key, [...(byKey.get(answer.key) ?? []), answer]);
  }
  const served = new Map<string, number>();
  const next = (call: AiCall): RecordedAnswer => {
    const key = answerKey(call);
    const found = byKey.get(key);
    if (found === undefined) {
      const what = `no answer is recorded for the prompt ${key}`;
      throw new NodeError("fixture_missing", `${what}; answers.ndjson holds those of models`, {
        reason: "fixture",
        sent: false,
      });
    }
    const turn = served.get(key) ?? 0;
    served.set(key, turn + 1);
    return found[Math.min(turn, found.length - 1)] as RecordedAnswer;
  };
  return providers.map((provider) => ({
    id: provider.id,
    capabilities: (modelId) => provider.capabilities(modelId),
    languageModel: (modelId) => ({
      specificationVersion: "v3",
      provider: provider.id,
      modelId,
      async doStream(call) {
        const { error, parts } = next(call);
        if (error !== undefined && parts.length === 0) throw errorOf(error);
        return { stream: streamOf(played(parts, error, speed), call.abortSignal) };
      },
    }),
  }));
}

function* played(
  parts: RecordedAnswer["parts"],
  error: ErrorEntry | undefined,
  speed: 0 | 1,
): Generator<TimedPart> {
  let at = 0;
  for (const { atMs, part } of parts) {
    yield { part, waitMs: Math.max(0, atMs - at) * speed };
    at = atMs;
  }
  if (error !== undefined) yield { error: errorOf(error) };
}
