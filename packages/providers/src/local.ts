/**
 * Models of this machine, behind a manager that loads them: the provider `local`.
 *   L1  A model is held from the request to the end of its answer, however it ends; then it may be unloaded.
 *   L2  Failures have the codes of the `ai` node: temporary ones are retried or go to another provider.
 */
import type {
  AbortSignalLike,
  AiContext,
  AiEmbedding,
  AiMessage,
  AiModel,
  AiProvider,
  FetchLike,
  ModelLease,
  ModelManager,
  ResponseLike,
} from "@millrace/contracts";
import { NodeError } from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import { withOptions } from "./vendors/model.ts";

/** The part of a manager that the provider needs. */
export interface LocalModels {
  readonly acquire: ModelManager["acquire"];
  list(): ReturnType<ModelManager["list"]> | Promise<ReturnType<ModelManager["list"]>>;
}

/** Options of `createLocalProvider` beside the models. */
export interface LocalProviderOptions {
  /** A client that reaches 127.0.0.1, and waits as long as a slow machine needs for its first token. */
  readonly fetch: FetchLike;
}

const ID = "local";
/** Stands in the requests of the vendor's package; where they really go is known when the model is held. */
const ORIGIN = "http://local.invalid/v1";
const PARAMS = [
  "temperature",
  "topP",
  "topK",
  "maxTokens",
  "seed",
  "stop",
  "frequencyPenalty",
  "presencePenalty",
];

/**
 * The provider of managed models. A model that is absent, invalid or without an engine fails with `model_unavailable`, one that is
 * busy with `ai_rate_limit`, and one whose process died with `ai_server`.
 */
export function createLocalProvider(
  models: LocalModels,
  { fetch }: LocalProviderOptions,
): AiProvider {
  const open = async (modelId: string, ctx: AiContext) => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      name: ID,
      baseURL: ORIGIN,
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch: toWebFetch(leasedFetch(modelId, ctx, { models, fetch })),
    });
  };
  return {
    id: ID,
    async capabilities(modelId) {
      const found = (await models.list()).find(({ id }) => id === modelId);
      return {
        tools: true,
        jsonSchema: true,
        params: PARAMS,
        embed: found?.gguf?.embedding ?? false,
      };
    },
    languageModel: async (modelId, ctx) =>
      withoutGrammar(withTopK((await open(modelId, ctx)).chatModel(modelId))),
    embeddingModel: async (modelId, ctx) =>
      (await open(modelId, ctx)).embeddingModel(modelId) as unknown as AiEmbedding,
    async listModels() {
      return (await models.list()).map(({ id }) => ({ id }));
    },
  };
}

/** A client whose requests go to the model's process, which is held until the answer is read or left. */
function leasedFetch(
  modelId: string,
  ctx: AiContext,
  { models, fetch }: { readonly models: LocalModels; readonly fetch: FetchLike },
): FetchLike {
  return async (url, init = {}) => {
    const signal = init.signal ?? ctx.signal;
    let lease: ModelLease;
    try {
      lease = await models.acquire(modelId, signal);
    } catch (error) {
      throw signal.aborted ? error : toNodeError(error, modelId);
    }
    try {
      const response = await fetch(lease.baseUrl + url.slice(ORIGIN.length), {
        ...init,
        signal,
        headers: { ...init.headers, authorization: `Bearer ${lease.token}` },
      });
      return released(response, { signal, letGo: () => lease.release() });
    } catch (error) {
      lease.release();
      throw error;
    }
  };
}

/** The answer; `letGo` is called once when its body was read, failed or was abandoned. */
function released(
  response: ResponseLike,
  { signal, letGo }: { readonly signal: AbortSignalLike; readonly letGo: () => void },
): ResponseLike {
  const { body } = response;
  let isHeld = true;
  const release = (): void => {
    signal.removeEventListener("abort", release);
    if (isHeld) letGo();
    isHeld = false;
  };
  // An aborted caller may leave an answer unread, and nothing is read ahead.
  signal.addEventListener("abort", release);
  if (body === null) {
    release();
    return response;
  }
  return {
    ...response,
    body: {
      [Symbol.asyncIterator]() {
        const chunks = body[Symbol.asyncIterator]();
        const ended = <T>(end: T): T => {
          release();
          return end;
        };
        return {
          next: () =>
            chunks.next().then(
              (next) => (next.done === true ? ended(next) : next),
              (error: unknown) => {
                throw ended(error);
              },
            ),
          // Of chunks that nobody has read yet, a generator's own end would not be told.
          return: async () => {
            release();
            await chunks.return?.();
            return { done: true as const, value: undefined };
          },
        };
      },
    },
  };
}

/** Codes of the manager and their reasons for the node. Any other code: the process failed and may be retried. */
const CODES: { readonly [code: string]: string } = {
  not_found: "model_unavailable",
  invalid_model: "model_unavailable",
  invalid_args: "model_unavailable",
  state_conflict: "model_unavailable", // it is being installed
  engine_missing: "model_unavailable",
  engine_unsupported: "model_unavailable",
  model_out_of_memory: "unavailable",
  model_busy: "ai_rate_limit",
};

function toNodeError(error: unknown, modelId: string): NodeError {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const known = typeof code === "string" && Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  // Messages of the manager name ids, never a path; whatever else is thrown says nothing here.
  const text =
    typeof code === "string" && typeof message === "string"
      ? message
      : `the model ${modelId} failed`;
  return new NodeError(known ?? "ai_server", text, { sent: false });
}

/** The package knows no `topK`; what it is given as an option of the provider it sends as it is. */
function withTopK(model: unknown): AiModel {
  const inner = withOptions(model, () => ({}));
  return {
    ...inner,
    doStream: ({ topK, ...call }) =>
      inner.doStream({
        ...call,
        ...(topK !== undefined && {
          providerOptions: {
            ...call.providerOptions,
            [ID]: { ...call.providerOptions?.[ID], top_k: topK },
          },
        }),
      }),
  };
}

/**
 * Asks again in words where the grammar of the engine cannot hold a schema. That is known before the first token, and the answer is
 * checked by the node either way.
 */
function withoutGrammar(model: AiModel): AiModel {
  return {
    ...model,
    async doStream(call) {
      try {
        return await model.doStream(call);
      } catch (error) {
        const { responseFormat, ...rest } = call;
        if (responseFormat?.type !== "json" || !isUnsupportedSchema(error)) throw error;
        const { schema } = responseFormat;
        const isObject = (schema as { readonly type?: unknown } | undefined)?.type === "object";
        return model.doStream({
          ...rest,
          prompt: inWords(call.prompt, schema),
          ...(isObject && { responseFormat: { type: "json" as const } }),
        });
      }
    },
  };
}

function isUnsupportedSchema(error: unknown): boolean {
  const { statusCode, responseBody } = error as {
    readonly statusCode?: unknown;
    readonly responseBody?: unknown;
  };
  return statusCode === 400 && String(responseBody).includes('"unsupported_schema"');
}

/** The schema as part of the system message, which is first and once. */
function inWords(prompt: readonly AiMessage[], schema: unknown): AiMessage[] {
  const text = `Answer with one JSON value and nothing else: no prose, no code fence. It must match this JSON Schema:\n${JSON.stringify(schema)}`;
  const [first, ...rest] = prompt;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...prompt];
  return [{ ...first, content: `${String(first.content)}\n\n${text}` }, ...rest];
}
