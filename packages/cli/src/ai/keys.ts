/** Keys of providers: whether there is one, and whether it is taken. */

import { type AiContext, type AiProvider, NodeError } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import type { AiSetup } from "@millrace/providers";
import type { Config } from "../config/load.ts";
import { CliError, fileStoreHint } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";

/** Ids of the models that a provider lists, which costs nothing. Throws `CliError` for a key that is missing or refused. */
export async function modelsOf(
  provider: AiProvider,
  setup: AiSetup,
  { egress }: Config,
  io: CliIo,
): Promise<readonly string[]> {
  const allow = setup.ai.origins.map((origin) => {
    const { hostname, port, protocol } = new URL(origin);
    const host = hostname.replace(/^\[(.*)\]$/, "$1"); // an IPv6 address
    return { host, port: Number(port) || (protocol === "https:" ? 443 : 80) };
  });
  try {
    const { signal } = io;
    const credentials = await setup.ai.credentials.resolve({ provider: provider.id, signal });
    const policy = { ...egress, allow: [...(egress.allow ?? []), ...allow] };
    const context: AiContext = { credentials, signal, fetch: createNodeHost().openFetch(policy) };
    return ((await provider.listModels?.(context)) ?? []).map((model) => model.id);
  } catch (error) {
    throw asFailure(error, provider.id);
  }
}

/** Codes that say that there is no key, or none that is good any more. */
const NO_KEY: ReadonlySet<string> = new Set([
  "credentials_missing",
  "credentials_expired",
  "no_refresh_token",
]);

function asFailure(error: unknown, id: string): unknown {
  if (!NodeError.isInstance(error)) return error;
  const message = clean(error.message);
  if (NO_KEY.has(error.code)) return new CliError("credentials_missing", message);
  if (error.code === "ai_auth") {
    return new CliError("credentials_missing", `${id} refused the key: ${message}`);
  }
  const hint = fileStoreHint(message);
  return new CliError("unavailable", `${id} cannot be asked: ${message}`, { hint });
}

/** Whether there is a key for a provider; `none`: it needs none. Nobody is asked. */
export async function keyState(
  { ai }: AiSetup,
  provider: string,
  { signal }: CliIo,
): Promise<"present" | "missing" | "none"> {
  try {
    const { apiKey, accessToken } = await ai.credentials.resolve({ provider, signal });
    return (apiKey ?? accessToken) === undefined ? "none" : "present";
  } catch (error) {
    if (NodeError.isInstance(error) && NO_KEY.has(error.code)) return "missing";
    throw asFailure(error, provider);
  }
}
