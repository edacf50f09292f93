/** An AI provider in a child, as the engine knows providers: calls cross as data, parts of a stream in batches. */

import type {
  AiCapabilities,
  AiContext,
  AiEmbedding,
  AiModel,
  AiModelInfo,
  AiPart,
  AiProvider,
} from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import type { ModelRequest } from "./child/models.ts";
import { fromWire, toWire } from "./child/wire.ts";

/** Asks the child; `parts` is told what of a stream has come. */
type Ask = (
  body: object,
  use: {
    readonly ctx: Pick<AiContext, "fetch" | "signal">;
    readonly parts?: (parts: readonly unknown[]) => void;
  },
) => Promise<unknown>;

const NEVER: AiContext["signal"] = {
  aborted: false,
  addEventListener() {},
  removeEventListener() {},
};

/** The provider `id` behind `ask`. */
export function childProvider(id: string, ask: Ask): AiProvider {
  const request = async (
    method: ModelRequest["method"],
    modelId: string,
    {
      ctx,
      call,
      parts,
    }: { ctx?: AiContext; call?: object; parts?: (parts: readonly unknown[]) => void },
  ): Promise<unknown> => {
    const body = { provider: id, method, modelId, credentials: ctx?.credentials ?? {}, call };
    const fetch: AiContext["fetch"] = ctx?.fetch ?? (async () => Promise.reject(new TypeError()));
    const signal = ctx?.signal ?? NEVER;
    const answer = await ask(toWire(body) as object, {
      ctx: { fetch, signal },
      ...(parts !== undefined && { parts }),
    });
    const value = fromWire(answer) as { readonly threw?: unknown } | undefined;
    if (typeof value === "object" && value !== null && "threw" in value) throw value.threw;
    return value;
  };
  return {
    id,
    capabilities: async (modelId) => (await request("capabilities", modelId, {})) as AiCapabilities,
    listModels: async (ctx) => (await request("listModels", "", { ctx })) as AiModelInfo[],
    async languageModel(modelId, ctx) {
      const head = (await request("open", modelId, { ctx })) as Omit<AiModel, "doStream">;
      return {
        ...head,
        async doStream({ abortSignal = ctx.signal, ...call }) {
          const own = new AbortController();
          const leave = whenAborted(abortSignal, () => own.abort(abortSignal.reason));
          const { signal } = own;
          const queue = new PartQueue(() => own.abort());
          const parts = (some: readonly unknown[]): void =>
            queue.push(some.map(fromWire) as AiPart[]);
          request("stream", modelId, { ctx: { ...ctx, signal }, call, parts })
            .then(
              () => queue.end(),
              (error: unknown) => queue.fail(error),
            )
            .finally(leave);
          await queue.begun; // a call that fails before its first part fails here
          return { stream: { getReader: () => queue } };
        },
      };
    },
    async embeddingModel(modelId, ctx) {
      const head = (await request("openEmbedding", modelId, { ctx })) as Omit<
        AiEmbedding,
        "doEmbed"
      >;
      return {
        ...head,
        doEmbed: async ({ abortSignal: signal = ctx.signal, ...call }) =>
          (await request("embed", modelId, { ctx: { ...ctx, signal }, call })) as Awaited<
            ReturnType<AiEmbedding["doEmbed"]>
          >,
      };
    },
  };
}

/** Parts between the line and a reader, in order. */
class PartQueue {
  /** Resolves with the first part or the end; rejects with what comes instead. */
  readonly begun: Promise<void>;
  readonly #held: AiPart[] = [];
  #begin: () => void = () => {};
  #refuse: (error: unknown) => void = () => {};
  #wake: () => void = () => {};
  #end: { readonly error?: unknown; readonly failed: boolean } | null = null;

  readonly #stop: () => void;

  /** `stop`: the reader has left. */
  constructor(stop: () => void) {
    this.#stop = stop;
    this.begun = new Promise((begin, refuse) => {
      this.#begin = begin;
      this.#refuse = refuse;
    });
  }

  push(parts: readonly AiPart[]): void {
    if (this.#end !== null) return;
    this.#held.push(...parts);
    this.#begin();
    this.#wake();
  }

  end(): void {
    this.#end ??= { failed: false };
    this.#begin();
    this.#wake();
  }

  fail(error: unknown): void {
    this.#end ??= { error, failed: true };
    this.#refuse(error);
    this.#wake();
  }

  async read(): Promise<{ done: boolean; value?: AiPart | undefined }> {
    while (this.#held.length === 0 && this.#end === null) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    const value = this.#held.shift();
    if (value !== undefined) return { done: false, value };
    if (this.#end?.failed === true) throw this.#end.error;
    return { done: true };
  }

  async cancel(): Promise<void> {
    const isOpen = this.#end === null;
    this.end();
    if (isOpen) this.#stop();
  }
}
