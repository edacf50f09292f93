/** `millrace providers`: who can be asked for a model here, and whether their keys work. Keys come in elsewhere and never go out. */
import { type AiContext, type AiProvider, NodeError } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import type { AiSettings, AiSetup } from "@millrace/providers";
import { aiSettings, openAi } from "../ai/open-ai.ts";
import { type CommandIo, flagText, type Input } from "../command.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { runCredentials } from "../credentials/run-credentials.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../render/text.ts";

/** Every provider with its kind and whether there is a key for it. Nobody is asked anything. */
export async function list(input: Input, io: CommandIo): Promise<number> {
  return withAi(input, io, async ({ setup, settings }) => {
    const items = await Promise.all(
      setup.providers.map(async ({ id }) => {
        const { kind = id, baseUrl, modelId } = settings.providers[id] ?? {};
        const key = await keyState(setup, id, io);
        return { id, kind, key, ...(baseUrl && { baseUrl }), ...(modelId && { modelId }) };
      }),
    );
    if (io.json !== undefined) await io.json.result({ items });
    else {
      const lines = items.map(({ id, kind, key }) => `${id}  ${kind}  key: ${key}\n`);
      await io.out.write(lines.join(""));
    }
  });
}

/** Asks a provider for the list of its models, which costs nothing. Ends with 5 for a key that is missing or refused. */
export async function test(input: Input, io: CommandIo): Promise<number> {
  const [id = ""] = input.args;
  return withAi(input, io, async ({ setup, config }) => {
    const provider = setup.providers.find((each) => each.id === id);
    if (provider === undefined) {
      throw usage(
        `there is no provider "${clean(id)}"`,
        `there are ${setup.providers.map((each) => each.id).join(", ")}`,
      );
    }
    const models = await modelsOf(provider, setup, config, io);
    if (io.json !== undefined) await io.json.result({ id, models });
    else await io.out.write(`${id} answers and has ${models.length} models\n`);
  });
}

async function modelsOf(
  provider: AiProvider,
  setup: AiSetup,
  { egress }: Config,
  io: CommandIo,
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
  return new CliError("unavailable", `${id} cannot be asked: ${message}`);
}

async function keyState(
  { ai }: AiSetup,
  provider: string,
  { signal }: CommandIo,
): Promise<"present" | "missing" | "none"> {
  try {
    const { apiKey, accessToken } = await ai.credentials.resolve({ provider, signal });
    return (apiKey ?? accessToken) === undefined ? "none" : "present";
  } catch (error) {
    if (NodeError.isInstance(error) && NO_KEY.has(error.code)) return "missing";
    throw asFailure(error, provider);
  }
}

interface Opened {
  readonly setup: AiSetup;
  readonly settings: AiSettings;
  readonly config: Config;
}

async function withAi(
  input: Input,
  io: CommandIo,
  work: (opened: Opened) => Promise<void>,
): Promise<number> {
  const config = await loadConfig(
    { folder: io.cwd, file: flagText(input, "config"), home: flagText(input, "home") },
    io,
    (line) => void io.err.write(`warning: ${line}\n`),
  );
  const settings = aiSettings(config);
  const credentials = runCredentials(config, () => io.now());
  const setup = openAi(config, credentials.port, io, createNodeHost());
  try {
    await work({ setup, settings, config });
    return 0;
  } finally {
    await setup.close();
    await credentials.close();
  }
}
