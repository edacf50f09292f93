/** Providers of models and servers of tools, as the configuration sets them up. Loaded when a flow or a command needs them. */

import { type AiProvider, type CredentialsPort, NodeError } from "@millrace/contracts";
import type { NodeHost } from "@millrace/engine/node";
import {
  type AiSettings,
  type AiSetup,
  createAi,
  ProvidersError,
  readAiSettings,
} from "@millrace/providers";
import type { ManagedModels } from "@millrace/server/models";
import { type Config, modelsOf } from "../config/load.ts";
import { usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";

/** The keys of AI, checked. Throws a usage error that names the key. */
export function aiSettings({ ai }: Config): AiSettings {
  try {
    return readAiSettings(ai);
  } catch (error) {
    if (ProvidersError.isInstance(error)) throw usage(clean(error.message));
    throw error;
  }
}

/** Engine options for `ai` nodes. */
export function openAi(
  config: Config,
  credentials: CredentialsPort,
  io: CliIo,
  host: NodeHost,
  auditKey?: Uint8Array,
): AiSetup {
  const { egress } = config;
  return createAi(aiSettings(config), {
    credentials,
    env: io.env,
    local: localModels(config, credentials, io, host),
    ...(auditKey !== undefined && { auditKey }),
    openFetch: (more) =>
      host.openFetch({ ...more, ...egress, allow: [...(egress.allow ?? []), ...more.allow] }),
  });
}

/** The provider `local`; `dispose` ends what it has started. Without the package every call fails with `provider_unavailable`. */
function localModels(
  config: Config,
  credentials: CredentialsPort,
  io: CliIo,
  host: NodeHost,
): AiProvider {
  let opened: Promise<ManagedModels | null> | undefined;
  const open = async (): Promise<ManagedModels | null> => {
    const { modelsProblem, openModels } = await import("@millrace/server/models");
    const models = modelsOf(config, io);
    const problem = modelsProblem(models);
    if (problem !== undefined) throw usage(clean(`models ${problem}`));
    const { egress } = config;
    const ports = { machine: host, egress, credentials, log: () => {} };
    return openModels(models, config.credentials.dir, ports);
  };
  const provider = async (): Promise<AiProvider> => {
    opened ??= open();
    const models = await opened;
    if (models !== null) return models.provider;
    const text = "there are no local models here: npm install -g @millrace/local-models adds them";
    throw new NodeError("provider_unavailable", text, { reason: "unavailable", sent: false });
  };
  return {
    id: "local",
    capabilities: async (modelId) => (await provider()).capabilities(modelId),
    languageModel: async (modelId, ctx) => (await provider()).languageModel(modelId, ctx),
    async embeddingModel(modelId, ctx) {
      const { embeddingModel } = await provider();
      if (embeddingModel === undefined) throw new Error("the provider makes no embeddings");
      return embeddingModel(modelId, ctx);
    },
    listModels: async (ctx) => (await (await provider()).listModels?.(ctx)) ?? [],
    async dispose() {
      await (await opened?.catch(() => null))?.close();
    },
  };
}
