/** Providers of models and servers of tools, as the configuration sets them up. Loaded when a flow or a command needs them. */
import type { CredentialsPort } from "@millrace/contracts";
import type { NodeHost } from "@millrace/engine/node";
import {
  type AiSettings,
  type AiSetup,
  createAi,
  ProvidersError,
  readAiSettings,
} from "@millrace/providers";
import type { Config } from "../config/load.ts";
import { usage } from "../errors.ts";
import type { CliIo } from "../io.ts";
import { clean } from "../render/text.ts";
import { localModels } from "./local-models.ts";

/** The keys of AI, checked. Throws a usage error that names the key. */
export function aiSettings({ ai }: Config): AiSettings {
  try {
    return readAiSettings(ai);
  } catch (error) {
    if (ProvidersError.isInstance(error)) throw usage(clean(error.message));
    throw error;
  }
}

/** What an engine is given for its `ai` nodes. */
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
