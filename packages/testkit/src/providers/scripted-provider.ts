/**
 * A provider that answers from a script, one entry per call.
 *   S1  Calls are kept as they came, and answered in the order of the script; one too many fails with `script_exhausted`.
 *   S2  Pauses are on the clock of the test, and end with the signal of the call.
 */

import {
  type AiCall,
  type AiCapabilities,
  type AiPart,
  type AiProvider,
  type AiStream,
  NodeError,
  type NodeErrorOptions,
} from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { checkOptions } from "@millrace/contracts/options";
import type { SimClock } from "@millrace/engine/testing";

/** One answer. With `error` alone nothing comes before it. */
export interface ScriptedCall {
  /** Streamed a word at a time. */
  readonly text?: string;
  /** Structured output: streamed as JSON text. */
  readonly object?: unknown;
  /** Tools that the model wants to use; each `input` is data. */
  readonly tools?: readonly { readonly name: string; readonly input?: unknown }[];
  /** Fails with this code, after the text where there is some. */
  readonly error?: { readonly code: string; readonly message?: string } & NodeErrorOptions;
  /** Pause before each word, in milliseconds of `clock`. */
  readonly delayMs?: number;
  /** Tokens in and out; absent: nothing is known. */
  readonly usage?: readonly [input: number, output: number];
  /** Default `stop`, with tools `tool-calls`. */
  readonly finish?: string;
}

/** Options of `createScriptedProvider`. */
export interface ScriptedProviderOptions {
  /** Default `scripted`. */
  readonly id?: string;
  /** Clock of the pauses; required if there are any. */
  readonly clock?: Pick<SimClock, "setTimer">;
  /** Overrides; tools and JSON Schema are on by default. */
  readonly capabilities?: Partial<AiCapabilities>;
}

/** The provider and its calls. */
export interface ScriptedProvider extends AiProvider {
  readonly calls: readonly (AiCall & { readonly modelId: string })[];
}

/** Creates the provider. Throws `TypeError` for a pause without a clock. */
export function createScriptedProvider(
  script: readonly ScriptedCall[],
  options: ScriptedProviderOptions = {},
): ScriptedProvider {
  checkOptions("createScriptedProvider", options, { id: true, clock: true, capabilities: true });
  const { id = "scripted", clock, capabilities = {} } = options;
  if (clock === undefined && script.some(({ delayMs }) => delayMs !== undefined)) {
    throw new TypeError("a script with pauses needs the clock that they are on");
  }
  const calls: (AiCall & { readonly modelId: string })[] = [];
  return {
    id,
    calls,
    capabilities: async () => ({ tools: true, jsonSchema: true, ...capabilities }),
    languageModel: (modelId) => ({
      specificationVersion: "v3",
      provider: id,
      modelId,
      async doStream(call) {
        const entry = script[calls.length];
        calls.push({ ...call, prompt: structuredClone(call.prompt), modelId });
        if (entry === undefined) {
          const text = `the script has ${script.length} answers, and one more was asked for`;
          throw new NodeError("script_exhausted", text);
        }
        if (entry.error !== undefined && textOf(entry) === "") throw errorOf(entry.error);
        return { stream: streamOf(entry, call.abortSignal, clock) };
      },
    }),
  };
}

function errorOf({
  code,
  message = "the script says so",
  ...options
}: NonNullable<ScriptedCall["error"]>): NodeError {
  return new NodeError(code, message, options);
}

function textOf({ text = "", object }: ScriptedCall): string {
  return object === undefined ? text : JSON.stringify(object);
}

function streamOf(
  entry: ScriptedCall,
  signal: AiCall["abortSignal"],
  clock: Pick<SimClock, "setTimer"> | undefined,
): AiStream {
  const parts = partsOf(entry)[Symbol.iterator]();
  return {
    getReader: () => ({
      async read() {
        if (signal?.aborted === true) throw signal.reason;
        const { done, value: part } = parts.next();
        if (done === true) return { done: true };
        const { delayMs } = entry;
        if (part.type === "text-delta" && clock !== undefined && delayMs !== undefined) {
          await sleep(delayMs, signal, clock);
        }
        return { done: false, value: part };
      },
      async cancel() {
        parts.return?.(undefined);
      },
    }),
  };
}

function* partsOf(entry: ScriptedCall): Generator<AiPart> {
  yield { type: "stream-start", warnings: [] };
  const words = textOf(entry).match(/\s*\S+|\s+$/g) ?? [];
  if (words.length > 0) yield { type: "text-start", id: "0" };
  for (const delta of words) yield { type: "text-delta", id: "0", delta };
  if (words.length > 0) yield { type: "text-end", id: "0" };
  if (entry.error !== undefined) throw errorOf(entry.error);
  const { tools = [], usage } = entry;
  for (const [at, { name, input = {} }] of tools.entries()) {
    const id = `call_${at + 1}`;
    yield { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(input) };
  }
  const unified = entry.finish ?? (tools.length > 0 ? "tool-calls" : "stop");
  yield {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: { inputTokens: { total: usage?.[0] }, outputTokens: { total: usage?.[1] } },
  };
}
