/** A provider whose code is loaded when it is used. */
import { type AiProvider, NodeError } from "@millrace/contracts";

/** The provider `id`; `load` is called at every use. */
export function lazyProvider(id: string, load: () => Promise<AiProvider>): AiProvider {
  return {
    id,
    capabilities: async (modelId) => (await load()).capabilities(modelId),
    languageModel: async (modelId, ctx) => (await load()).languageModel(modelId, ctx),
    async embeddingModel(modelId, ctx) {
      const model = await (await load()).embeddingModel?.(modelId, ctx);
      if (model !== undefined) return model;
      throw new NodeError("ai_unsupported", `the provider ${id} makes no vectors`);
    },
    listModels: async (ctx) => (await (await load()).listModels?.(ctx)) ?? [],
  };
}
