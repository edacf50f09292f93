/**
 * What the engine asks of an AI provider. Structural and loose on purpose: models of the AI SDK provider specification
 * (v3 and v4) fit, and copies of that package that differ in detail fit too.
 */
import type { Json, JsonObject, JsonSchema } from "../json.ts";
import type { AbortSignalLike, FetchLike } from "./context.ts";

/** A provider. Its models are checked structurally; a string in place of a model is refused. */
export interface AiProvider {
  readonly id: string;
  capabilities(modelId: string): Promise<AiCapabilities>;
  languageModel(modelId: string, ctx: AiContext): AiModel | Promise<AiModel>;
  embeddingModel?(modelId: string, ctx: AiContext): AiEmbedding | Promise<AiEmbedding>;
  listModels?(ctx: AiContext): Promise<readonly AiModelInfo[]>;
  dispose?(): Promise<void>;
}

/** A revealed credential; both absent: the provider needs none. */
export interface AiCredentials {
  readonly apiKey?: string;
  readonly accessToken?: string;
}

/**
 * Where the keys of providers come from. `reference` is what a target, else its node, names (`openai`, `service:crm`); absent:
 * the provider's setting decides. Throws `NodeError` `credentials_missing`, `credentials_expired`, `no_refresh_token`, `unavailable`.
 */
export interface AiCredentialsPort {
  resolve(request: {
    readonly provider: string;
    readonly reference?: string;
    readonly signal: AbortSignalLike;
  }): Promise<AiCredentials>;
}

/** A tool that a source offers; `trusted`: the operator lets it run without asking a person. */
export interface AiSourceTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonSchema;
  readonly trusted: boolean;
}

/** Context of a tool source, for one use. */
export interface AiToolContext {
  readonly runId: string;
  /** Egress policy applied. */
  readonly fetch: FetchLike;
  readonly signal: AbortSignalLike;
  /** How long the call may take, in milliseconds; the signal aborts by then as well. */
  readonly timeoutMs: number;
  progress(done: number, total?: number): void;
  warn(code: string, text: string): void;
}

/**
 * Tools that live outside: the servers of the Model Context Protocol that the operator has set up, by name. A tool that fails
 * or answers with an error throws `NodeError`, whose code and message the model is told.
 */
export interface AiToolSource {
  /** The allowed tools of a server, as they were when the run first asked. */
  list(server: string, ctx: AiToolContext): Promise<readonly AiSourceTool[]>;
  /** The answer of one call: text, or data that is given to the model as JSON text. */
  call(
    server: string,
    call: { readonly tool: string; readonly args: JsonObject },
    ctx: AiToolContext,
  ): Promise<Json>;
  /** Called once a run that has used the source has ended. Never rejects. */
  endRun?(runId: string): void | Promise<void>;
}

/** Context of a provider, for one use. Credentials are revealed here and nowhere else. */
export interface AiContext {
  readonly credentials: AiCredentials;
  /** Egress policy applied; a redirect to another origin loses the credentials. */
  readonly fetch: FetchLike;
  readonly signal: AbortSignalLike;
}

/** US dollars for a million tokens. */
export interface PricePerMillion {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
}

/** Capabilities of a model. `params` names the sampling fields it takes; `files` the media types it reads. */
export interface AiCapabilities {
  readonly tools: boolean;
  readonly jsonSchema: boolean;
  readonly files?: readonly string[];
  readonly embed?: boolean;
  readonly params?: readonly string[];
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
  readonly price?: PricePerMillion;
}

/** A model that a provider offers. */
export interface AiModelInfo {
  readonly id: string;
  readonly title?: string;
}

/** A language model of specification v3 or v4. */
export interface AiModel {
  readonly specificationVersion: "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  doStream(call: AiCall): PromiseLike<{ readonly stream: AiStream }>;
}

/** The part of `ReadableStream` that the engine reads. */
export interface AiStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: AiPart | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/** A part of a stream: `stream-start`, `text-delta`, `reasoning-delta`, `tool-call`, `finish`, `error` and others, which are ignored. */
export type AiPart = {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: parts of the AI SDK are interfaces, which fit no index of `unknown`
  readonly [name: string]: any;
};

/** A message of a prompt: a system message holds text, the others a list of parts. */
export interface AiMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly AiPart[];
  readonly providerOptions?: AiProviderOptions | undefined;
}

/** Options of one provider each, keyed by its id, passed through. */
export interface AiProviderOptions {
  readonly [provider: string]: { readonly [name: string]: unknown };
}

/** A tool that a model may ask for. */
export interface AiTool {
  readonly type: "function";
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: unknown;
}

/** A tool that the maker of a model runs; the engine asks for none. */
export interface AiProviderTool {
  readonly type: "provider";
  readonly name: string;
}

/** One call of a language model; absent members are the provider's defaults. */
export interface AiCall {
  readonly prompt: AiMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly seed?: number | undefined;
  readonly stopSequences?: string[] | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly responseFormat?:
    | { readonly type: "text" }
    | {
        readonly type: "json";
        readonly schema?: unknown;
        readonly name?: string;
        readonly description?: string;
      }
    | undefined;
  readonly tools?: (AiTool | AiProviderTool)[] | undefined;
  readonly toolChoice?: { readonly type: "auto" | "none" | "required" | "tool" } | undefined;
  /** Specification v4 only. */
  readonly reasoning?: string | undefined;
  readonly headers?: { [name: string]: string | undefined } | undefined;
  readonly abortSignal?: AbortSignalLike | undefined;
  readonly providerOptions?: AiProviderOptions | undefined;
}

/** An embedding model of specification v3 or v4. */
export interface AiEmbedding {
  readonly specificationVersion: "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  /** Longest list of one call; absent: no limit. */
  readonly maxEmbeddingsPerCall?: number | PromiseLike<number | undefined> | undefined;
  doEmbed(call: {
    readonly values: string[];
    readonly abortSignal?: AbortSignalLike | undefined;
    readonly providerOptions?: AiProviderOptions | undefined;
  }): PromiseLike<{
    readonly embeddings: number[][];
    readonly usage?: { readonly tokens: number } | undefined;
  }>;
}
