/**
 * The providers of the well-known vendors and of servers that speak OpenAI's interface: what differs between them. The package of
 * a vendor is loaded when a model of it is first asked for; one that is given no address or key would look for them in the
 * environment, so it always gets both.
 */
import type {
  AiCall,
  AiCapabilities,
  AiContext,
  AiEmbedding,
  AiProvider,
  AiProviderOptions,
} from "@millrace/contracts";
import { toWebFetch } from "@millrace/contracts/web-fetch";
import type { ProviderSettings } from "../settings/read.ts";
import { listFrom, requireKey, withOptions } from "./model.ts";
import { capabilitiesOf, type Vendor } from "./models.ts";
import { reasoningOptions } from "./reasoning.ts";
import { isStrictSchema } from "./strict-schema.ts";

type Headers = { readonly [name: string]: string };

interface Parts {
  readonly capabilities: (modelId: string) => AiCapabilities;
  readonly languageModel: (modelId: string, ctx: AiContext) => Promise<unknown>;
  readonly embeddingModel?: (modelId: string, ctx: AiContext) => Promise<unknown>;
  /** Options of the provider that every call gets. */
  readonly options: (call: AiCall, modelId: string) => AiProviderOptions;
  /** Address of the list of models, below the base URL. */
  readonly list: string;
  readonly headers: (ctx: AiContext) => Headers;
}

function provider(id: string, baseUrl: string, parts: Parts): AiProvider {
  const { capabilities, languageModel, embeddingModel, options, list, headers } = parts;
  return {
    id,
    capabilities: async (modelId) => capabilities(modelId),
    languageModel: async (modelId, ctx) =>
      withOptions(await languageModel(modelId, ctx), (call) => options(call, modelId)),
    ...(embeddingModel !== undefined && {
      embeddingModel: async (modelId: string, ctx: AiContext) =>
        (await embeddingModel(modelId, ctx)) as AiEmbedding,
    }),
    listModels: async (ctx) => listFrom(baseUrl.replace(/\/+$/, "") + list, headers(ctx), ctx),
  };
}

/**
 * OpenAI through its Responses or its Chat Completions interface. Nothing of a call is stored there (`store: false`), whatever the
 * flow says.
 * @see https://ai-sdk.dev/providers/ai-sdk-providers/openai
 */
export function openaiProvider(id: string, settings: ProviderSettings): AiProvider {
  const { api = "responses", baseUrl: baseURL = "https://api.openai.com/v1" } = settings;
  const vendor: Vendor = api === "chat" ? "openai-chat" : "openai-responses";
  const open = async (ctx: AiContext) => {
    const apiKey = requireKey(ctx, id);
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ apiKey, baseURL, fetch: toWebFetch(ctx.fetch) });
  };
  return provider(id, baseURL, {
    capabilities: (modelId) => capabilitiesOf(vendor, modelId),
    languageModel: async (modelId, ctx) => (await open(ctx))[api](modelId),
    embeddingModel: async (modelId, ctx) => (await open(ctx)).embeddingModel(modelId),
    options: (call, modelId) => ({
      openai: {
        ...reasoningOptions(vendor, modelId, call.reasoning)["openai"],
        ...(api === "responses" && { store: false }),
        ...strictness(call),
      },
    }),
    list: "/models",
    headers: (ctx) => bearer(requireKey(ctx, id)),
  });
}

/**
 * Anthropic's Messages interface. An access token goes as bearer token, a key as `x-api-key`.
 * @see https://ai-sdk.dev/providers/ai-sdk-providers/anthropic
 */
export function anthropicProvider(id: string, settings: ProviderSettings): AiProvider {
  const { baseUrl: baseURL = "https://api.anthropic.com/v1" } = settings;
  return provider(id, baseURL, {
    capabilities: (modelId) => capabilitiesOf("anthropic", modelId),
    async languageModel(modelId, ctx) {
      const key = requireKey(ctx, id);
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      const auth = isToken(ctx) ? { authToken: key } : { apiKey: key };
      return createAnthropic({ ...auth, baseURL, fetch: toWebFetch(ctx.fetch) }).messages(modelId);
    },
    options: ({ reasoning }, modelId) => reasoningOptions("anthropic", modelId, reasoning),
    list: "/models?limit=1000",
    headers(ctx) {
      const key = requireKey(ctx, id);
      const auth: Headers = isToken(ctx) ? bearer(key) : { "x-api-key": key };
      return { ...auth, "anthropic-version": "2023-06-01" }; // the package sends the same
    },
  });
}

/**
 * Google's Generative Language interface (Gemini). An access token goes as bearer token, a key as `x-goog-api-key`.
 * @see https://ai-sdk.dev/providers/ai-sdk-providers/google-generative-ai
 */
export function googleProvider(id: string, settings: ProviderSettings): AiProvider {
  const { baseUrl: baseURL = "https://generativelanguage.googleapis.com/v1beta" } = settings;
  const headers = (ctx: AiContext): Headers => {
    const key = requireKey(ctx, id);
    return isToken(ctx) ? bearer(key) : { "x-goog-api-key": key };
  };
  const open = async (ctx: AiContext) => {
    const own = headers(ctx);
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    return createGoogleGenerativeAI({
      // The package has no way to say "no key"; it is replaced where the request leaves.
      apiKey: requireKey(ctx, id),
      baseURL,
      fetch: toWebFetch(ctx.fetch, {
        headers(all) {
          all.delete("x-goog-api-key");
          for (const [name, value] of Object.entries(own)) all.set(name, value);
        },
      }),
    });
  };
  return provider(id, baseURL, {
    capabilities: (modelId) => capabilitiesOf("google", modelId),
    languageModel: async (modelId, ctx) => (await open(ctx)).chat(modelId),
    embeddingModel: async (modelId, ctx) => (await open(ctx)).embeddingModel(modelId),
    options: ({ reasoning }, modelId) => reasoningOptions("google", modelId, reasoning),
    list: "/models?pageSize=1000",
    headers,
  });
}

/**
 * Any server that speaks OpenAI's Chat Completions: a gateway, a local server, another vendor. It may need no key.
 * @see https://ai-sdk.dev/providers/openai-compatible-providers
 */
export function compatibleProvider(id: string, settings: ProviderSettings): AiProvider {
  const { baseUrl: baseURL = "", supportsStructuredOutputs = false, headers = {} } = settings;
  const open = async (ctx: AiContext) => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const apiKey = keyOf(ctx);
    return createOpenAICompatible({
      ...{ name: id, baseURL, headers, includeUsage: true, supportsStructuredOutputs },
      fetch: toWebFetch(ctx.fetch),
      ...(apiKey !== undefined && { apiKey }),
    });
  };
  return provider(id, baseURL, {
    capabilities: (modelId) => ({
      ...capabilitiesOf("compatible", modelId),
      jsonSchema: supportsStructuredOutputs,
    }),
    languageModel: async (modelId, ctx) => (await open(ctx)).chatModel(modelId),
    embeddingModel: async (modelId, ctx) => (await open(ctx)).embeddingModel(modelId),
    options: (call, modelId) => ({
      openaiCompatible: {
        ...reasoningOptions("compatible", modelId, call.reasoning)["openaiCompatible"],
        ...strictness(call),
      },
    }),
    list: "/models",
    headers(ctx) {
      const key = keyOf(ctx);
      return { ...headers, ...(key !== undefined && bearer(key)) };
    },
  });
}

/** The strict mode of a schema that obeys its rules; any other schema would be answered with 400. */
function strictness({ responseFormat }: AiCall): AiProviderOptions[string] {
  return responseFormat?.type === "json" && responseFormat.schema !== undefined
    ? { strictJsonSchema: isStrictSchema(responseFormat.schema) }
    : {};
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

function keyOf({ credentials }: AiContext): string | undefined {
  return credentials.apiKey ?? credentials.accessToken;
}

function isToken({ credentials }: AiContext): boolean {
  return credentials.apiKey === undefined;
}
