/** Shared part of the vendors' packages: models with additional call options. */
import type {
  AiCall,
  AiContext,
  AiModel,
  AiModelInfo,
  AiPart,
  AiProviderOptions,
  AiStream,
} from "@millrace/contracts";
import { NodeError } from "@millrace/contracts";

/** Most of an answer that lists models; the longest known is a tenth of it. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/**
 * A model of specification v3 or v4 with `options` of its provider merged into every call: what `options` says wins over the
 * call. Its `doStream` makes one request and repeats none.
 */
export function withOptions(model: unknown, options: (call: AiCall) => AiProviderOptions): AiModel {
  const inner = model as AiModel;
  return {
    specificationVersion: inner.specificationVersion,
    provider: inner.provider,
    modelId: inner.modelId,
    async doStream(call) {
      const { reasoning, ...rest } = call;
      const passed = inner.specificationVersion === "v4" && reasoning !== undefined;
      const { stream } = await inner.doStream({
        ...rest,
        ...(passed && { reasoning }),
        providerOptions: merge(call.providerOptions ?? {}, options(call)),
      });
      return { stream: withRealEnd(stream) };
    },
  };
}

/**
 * The packages end every stream with a `finish` part, one that broke off too: its reason is then `other`, and the maker has
 * said none. Here such an end is no end, so that nobody takes half an answer for a whole one.
 */
function withRealEnd(stream: AiStream): AiStream {
  return {
    getReader() {
      const reader = stream.getReader();
      return {
        // No async function: this runs for every delta.
        read: () =>
          reader
            .read()
            .then((next) =>
              next.value?.type === "finish" && !isReal(next.value) ? reader.read() : next,
            ),
        cancel: (reason) => reader.cancel(reason),
      };
    },
  };
}

function isReal({ finishReason }: AiPart): boolean {
  const { unified, raw } = (finishReason ?? {}) as { unified?: unknown; raw?: unknown };
  return unified !== "other" || raw !== undefined;
}

/** The key of a context, from either way to have one. Throws `credentials_missing` where there is none. */
export function requireKey({ credentials }: AiContext, provider: string): string {
  const key = credentials.apiKey ?? credentials.accessToken;
  if (key !== undefined && key !== "") return key;
  throw new NodeError(
    "credentials_missing",
    `the provider ${provider} needs a key: millrace secrets set ai:${provider} stores one`,
    { reason: "auth", sent: false },
  );
}

/** Asks for a list of models: `{data: [{id}]}`, or `{models: [{name: "models/…"}]}`. Throws `NodeError`: `ai_auth`, `ai_server`. */
export async function listFrom(
  url: string,
  headers: { readonly [name: string]: string },
  ctx: AiContext,
): Promise<readonly AiModelInfo[]> {
  const response = await ctx.fetch(url, {
    headers,
    signal: ctx.signal,
    maxBytes: MAX_LIST_BYTES,
    originHeaders: Object.keys(headers),
  });
  const { status, ok } = response;
  if (!ok) {
    await response.text().catch(() => "");
    const refused = status === 401 || status === 403;
    throw new NodeError(
      refused ? "ai_auth" : "ai_server",
      `the list of models was answered with ${status}`,
      { status, reason: refused ? "auth" : "server", retryable: status >= 500 },
    );
  }
  const list = ((await response.json()) ?? {}) as { readonly [name: string]: unknown };
  return [...entriesOf(list["data"]), ...entriesOf(list["models"])].flatMap((entry) => {
    const { id, name, display_name, displayName } = entry;
    const known = typeof name === "string" && id === undefined ? name.replace(/^models\//, "") : id;
    const title = display_name ?? displayName;
    return typeof known === "string"
      ? [{ id: known, ...(typeof title === "string" && { title }) }]
      : [];
  });
}

function entriesOf(list: unknown): readonly { readonly [name: string]: unknown }[] {
  return Array.isArray(list)
    ? list.filter((each) => typeof each === "object" && each !== null)
    : [];
}

function merge(weak: AiProviderOptions, strong: AiProviderOptions): AiProviderOptions {
  const names = new Set([...Object.keys(weak), ...Object.keys(strong)]);
  return Object.fromEntries([...names].map((name) => [name, { ...weak[name], ...strong[name] }]));
}
