/** A provider that answers from a script, one entry per call, and records its calls. */
import type { AiCall, AiCapabilities, AiProvider } from "@millrace/contracts";
import { NodeError } from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import {
  type AnswerToolCall,
  type AnswerUsage,
  finishPart,
  textParts,
  toolParts,
} from "./answer-parts.ts";
import { type ErrorEntry, errorOf } from "./entry-error.ts";
import { streamOf, type TimedPart } from "./stream.ts";

/** One answer. With `error` alone the call fails before anything of an answer. */
export interface ScriptEntry {
  readonly text?: string;
  /** Sent as JSON text. */
  readonly object?: unknown;
  readonly toolCalls?: readonly AnswerToolCall[];
  /** By reason or by status; with text, after that text. */
  readonly error?: ErrorEntry;
  /** The stream breaks after this many pieces of text, without an end. */
  readonly cutAfter?: number;
  /** The stream falls silent after this many pieces, until the call is aborted. */
  readonly hangAfter?: number;
  /** Pause before each piece. */
  readonly deltaMs?: number;
  /** Absent: nothing is known. */
  readonly usage?: AnswerUsage;
  /** Default `stop`, with tool calls `tool-calls`. */
  readonly finish?: string;
}

/** Options of `createScriptedProvider`. */
export interface ScriptedOptions {
  /** Default `scripted`. */
  readonly id?: string;
  /** Over tools and JSON Schema, which are there by default. */
  readonly capabilities?: Partial<AiCapabilities>;
}

const OPTIONS: OptionNames<ScriptedOptions> = { id: true, capabilities: true };

/** The provider, and every call that it got, in order. */
export interface ScriptedProvider extends AiProvider {
  readonly calls: readonly (AiCall & { readonly modelId: string })[];
}

/** A provider over the entries. A call past the last one fails with `script_exhausted`. */
export function createScriptedProvider(
  script: readonly ScriptEntry[],
  options: ScriptedOptions = {},
): ScriptedProvider {
  checkOptions("createScriptedProvider", options, OPTIONS);
  const { id = "scripted", capabilities = {} } = options;
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
        calls.push({ ...call, modelId });
        if (entry === undefined) throw exhausted(script.length);
        if (entry.error !== undefined && entry.text === undefined) throw errorOf(entry.error);
        return { stream: streamOf(played(entry), call.abortSignal) };
      },
    }),
  };
}

function* played(entry: ScriptEntry): Generator<TimedPart> {
  const { cutAfter, hangAfter, deltaMs = 0, toolCalls = [] } = entry;
  const text = entry.object === undefined ? (entry.text ?? "") : JSON.stringify(entry.object);
  yield { part: { type: "stream-start", warnings: [] } };
  let pieces = 0;
  for (const part of textParts(text)) {
    const isPiece = part.type === "text-delta";
    if (isPiece && pieces === hangAfter) yield { waitMs: null };
    if (isPiece && pieces === cutAfter) yield { error: broken() };
    yield { part, ...(isPiece && { waitMs: deltaMs }) };
    if (isPiece) pieces += 1;
  }
  if (hangAfter !== undefined) yield { waitMs: null };
  if (cutAfter !== undefined) yield { error: broken() };
  if (entry.error !== undefined) yield { part: { type: "error", error: errorOf(entry.error) } };
  for (const part of toolParts(toolCalls)) yield { part };
  const finish = entry.finish ?? (toolCalls.length > 0 ? "tool-calls" : "stop");
  yield { part: finishPart(finish, entry.usage) };
}

function broken(): NodeError {
  return new NodeError("network", "the connection was closed", {
    reason: "network",
    retryable: true,
    sent: true,
  });
}

function exhausted(entries: number): NodeError {
  return new NodeError(
    "script_exhausted",
    `the script has ${entries} entries, and one more call came`,
  );
}
