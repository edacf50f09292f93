/** Providers in a child: models are opened per call, and the parts of their streams go to the host in batches. */
import {
  type AiCall,
  type AiContext,
  type AiCredentials,
  type AiProvider,
  NodeError,
} from "@millrace/contracts";
import { type CallLine, ChildContext } from "./context.ts";
import { toWire } from "./wire.ts";

const BATCH_MS = 16; // one frame of a screen: too short to be seen

/** Request of the host to a provider. */
export interface ModelRequest {
  readonly provider: string;
  readonly method: "capabilities" | "listModels" | "open" | "stream" | "embed" | "openEmbedding";
  readonly modelId: string;
  readonly credentials: AiCredentials;
  /** Options of the call of a model. */
  readonly call?: object;
}

/** An open use of a provider. */
export interface ModelCall {
  readonly answer: Promise<unknown>;
  cancel(reason: unknown): void;
}

/** Does what the host asks. What a provider throws is an answer, `{ threw }`: hosts read more of it than a code. */
export function callModel(
  provider: AiProvider,
  { method, modelId, credentials, call = {} }: ModelRequest,
  line: CallLine & { parts(parts: readonly unknown[]): void },
): ModelCall {
  const context = new ChildContext(NO_ATTEMPT, line);
  const ai: AiContext = { credentials, fetch: context.fetch, signal: context.signal };
  const options = { ...call, abortSignal: context.signal };
  const act = async (): Promise<unknown> => {
    if (method === "capabilities") return provider.capabilities(modelId);
    if (method === "listModels") return provider.listModels?.(ai) ?? [];
    if (method === "openEmbedding" || method === "embed") {
      const model = await provider.embeddingModel?.(modelId, ai);
      if (model === undefined) throw new NodeError("ai_unsupported", "it makes no vectors");
      if (method === "embed")
        return model.doEmbed(options as unknown as Parameters<typeof model.doEmbed>[0]);
      const { specificationVersion, provider: id, modelId: name } = model;
      const most = await model.maxEmbeddingsPerCall;
      return { specificationVersion, provider: id, modelId: name, maxEmbeddingsPerCall: most };
    }
    const model = await provider.languageModel(modelId, ai);
    if (method === "open") {
      const { specificationVersion, provider: id, modelId: name } = model;
      return { specificationVersion, provider: id, modelId: name };
    }
    const { stream } = await model.doStream(options as unknown as AiCall);
    await pour(stream.getReader(), line.parts);
    return {};
  };
  const answer = act()
    .then((result) => toWire(result))
    .catch((error: unknown) => {
      if (NodeError.isInstance(error)) throw error;
      return { threw: toWire(error instanceof Error ? error : new Error("the provider threw")) };
    })
    .finally(() => context.over());
  return { answer, cancel: (reason) => context.cancel(reason) };
}

/** Sends the parts of a stream, those of one frame together. */
async function pour(
  reader: { read(): Promise<{ done: boolean; value?: unknown }> },
  send: (parts: readonly unknown[]) => void,
): Promise<void> {
  let held: unknown[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (held.length > 0) send(held.map(toWire));
    held = [];
  };
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      held.push(next.value);
      timer ??= setTimeout(flush, BATCH_MS);
    }
  } finally {
    flush();
  }
}

const NO_ATTEMPT = {
  runId: "",
  node: "",
  attempt: 0,
  idempotencyKey: "",
  now: 0,
  seed: 0,
  config: {},
};
