/** A provider whose answers are data, one entry a call; models of both specifications. */
import type { AiCall, AiCapabilities, AiPart, AiProvider } from "@millrace/contracts";

export interface Entry {
  /** Pieces of text. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string;
  readonly tools?: readonly { readonly name: string; readonly input?: unknown }[];
  /** Thrown before anything comes. */
  readonly fail?: unknown;
  /** What follows the text instead of an end. */
  readonly after?: "cut" | "hang" | "end" | { readonly error: unknown };
  readonly finish?: string;
  readonly usage?: readonly [number, number] | null;
  readonly warnings?: readonly unknown[];
  /** Parts instead of all this. */
  readonly parts?: readonly AiPart[];
}

export interface Scripted extends AiProvider {
  readonly calls: (AiCall & { readonly modelId: string })[];
  /** Calls that were told to stop, and streams that were let go. */
  readonly aborted: string[];
  readonly keys: unknown[];
}

export interface ScriptedOptions {
  readonly id?: string;
  readonly version?: "v3" | "v4";
  readonly capabilities?: Partial<AiCapabilities>;
  /** Every part comes in a turn of its own, as over a socket. */
  readonly slow?: boolean;
}

/** An error as the AI SDK throws it. */
export function apiError(
  statusCode: number,
  more: { readonly [name: string]: unknown } = {},
): Error {
  return Object.assign(new Error("secret body"), {
    name: "AI_APICallError",
    statusCode,
    requestBodyValues: { prompt: "secret prompt" },
    responseBody: "secret body",
    ...more,
  });
}

/** Answers of the entries, in order; past the end every call fails with a bad request. */
export function scripted(script: readonly Entry[], options: ScriptedOptions = {}): Scripted {
  const { id = "mock", version = "v3", capabilities = {}, slow = false } = options;
  const calls: (AiCall & { readonly modelId: string })[] = [];
  const aborted: string[] = [];
  const keys: unknown[] = [];
  return {
    id,
    calls,
    aborted,
    keys,
    capabilities: async () => ({ tools: true, jsonSchema: true, ...capabilities }),
    languageModel: (modelId, { credentials }) => ({
      specificationVersion: version,
      provider: id,
      modelId,
      async doStream(call) {
        const entry = script[calls.length] ?? { fail: apiError(400) };
        const number = calls.length + 1;
        calls.push({ ...call, prompt: structuredClone(call.prompt), modelId });
        keys.push(credentials);
        if (entry.fail !== undefined) throw entry.fail;
        call.abortSignal?.addEventListener("abort", () => aborted.push(`signal ${number}`));
        return { stream: streamOf(entry, slow, () => aborted.push(`reader ${number}`)) };
      },
    }),
  };
}

function streamOf(entry: Entry, slow: boolean, cancelled: () => void): ReturnType<typeof reader> {
  return reader(partsOf(entry), { after: entry.after, slow, cancelled });
}

function reader(
  parts: readonly AiPart[],
  {
    after,
    slow,
    cancelled,
  }: { readonly after: Entry["after"]; readonly slow: boolean; readonly cancelled: () => void },
) {
  let at = 0;
  return {
    getReader: () => ({
      read: (): Promise<{ done: boolean; value?: AiPart }> => {
        const value = parts[at];
        at += 1;
        if (value !== undefined) {
          const part = { done: false, value };
          return slow ? new Promise((go) => setImmediate(() => go(part))) : Promise.resolve(part);
        }
        if (after === "hang") return new Promise(() => {});
        return after === "cut"
          ? Promise.reject(new Error("socket"))
          : Promise.resolve({ done: true });
      },
      cancel: async () => cancelled(),
    }),
  };
}

function partsOf(entry: Entry): readonly AiPart[] {
  if (entry.parts !== undefined) return entry.parts;
  const { text = [], reasoning, tools = [], after, usage, warnings = [] } = entry;
  const parts: AiPart[] = [{ type: "stream-start", warnings }];
  if (reasoning !== undefined) {
    parts.push({ type: "reasoning-start", id: "r" });
    parts.push({ type: "reasoning-delta", id: "r", delta: reasoning });
    parts.push({ type: "reasoning-end", id: "r", providerMetadata: { mock: { signature: "s" } } });
  }
  const pieces = typeof text === "string" ? [text] : text;
  for (const delta of pieces) parts.push({ type: "text-delta", id: "x", delta });
  if (typeof after === "object") parts.push({ type: "error", error: after.error });
  if (after !== undefined) return parts;
  tools.forEach(({ name, input = {} }, at) => {
    const json = typeof input === "string" ? input : JSON.stringify(input);
    parts.push({ type: "tool-call", toolCallId: `p${at}`, toolName: name, input: json });
  });
  const unified = entry.finish ?? (tools.length > 0 ? "tool-calls" : "stop");
  const counts = usage === null ? undefined : (usage ?? [3, 2]);
  parts.push({
    type: "finish",
    finishReason: { unified },
    ...(counts !== undefined && {
      usage: { inputTokens: { total: counts[0] }, outputTokens: { total: counts[1] } },
    }),
  });
  return parts;
}
