/**
 * The AI providers of a server, as a person may know them: names, and whether there is a credential.
 *   L1  No key, no part of one and no reference to one is in the answer.
 *   L2  Nobody outside is asked: no model list of a maker, no renewal of a connection.
 */
import {
  type AiProvider,
  NodeError,
  type ProviderInfo,
  type ServiceDefinition,
  type ServiceInfo,
} from "@millrace/contracts";
import type { AiSettings, AiSetup } from "@millrace/providers";
import { notWired, wire } from "../dispatch/index.ts";
import type { HandlerList } from "../ports.ts";

export interface ProviderSources {
  readonly settings: Pick<AiSettings, "providers">;
  /** Those of the settings, and that of this machine's models. */
  readonly own: AiSetup["providers"];
  readonly extensions: readonly AiProvider[];
  readonly credentials: AiSetup["ai"]["credentials"];
  readonly services: {
    readonly services: readonly ServiceDefinition[];
    info(service: ServiceDefinition): Promise<ServiceInfo>;
  };
}

type Credential = ProviderInfo["credential"];

const SERVICE = "service:";
/** Codes that say that there is no key, or none that is good any more. */
const NO_KEY: ReadonlySet<string> = new Set([
  "credentials_missing",
  "credentials_expired",
  "no_refresh_token",
]);
/** Providers that know their models without asking anybody. */
const KNOW_MODELS: ReadonlySet<string> = new Set(["mock", "local"]);

export const providerHandlers: HandlerList = [
  wire("list_providers", async (_args, { host, signal }) => {
    if (host.providers === undefined) throw notWired("list_providers");
    return [...(await host.providers(signal))];
  }),
];

/** Makes what answers `list_providers`: the first provider with a name counts, as for runs. */
export function createProviderList(
  sources: ProviderSources,
): (signal: AbortSignal) => Promise<readonly ProviderInfo[]> {
  const { settings, own, extensions } = sources;
  const kinds = new Map<string, { readonly kind: string; readonly provider: AiProvider }>();
  for (const provider of own) {
    const kind = settings.providers[provider.id]?.kind ?? provider.id;
    kinds.set(provider.id, { kind, provider });
  }
  for (const provider of extensions) {
    if (!kinds.has(provider.id)) kinds.set(provider.id, { kind: "extension", provider });
  }
  return (signal) =>
    Promise.all(
      [...kinds].map(async ([name, { kind, provider }]) => {
        const models = await modelsOf(provider, { kind, sources, signal });
        const credential = await credentialOf(name, sources, signal);
        return { name, kind, ...(models.length > 0 && { models }), credential };
      }),
    );
}

/** Models that are known here: the default of the settings, and what is on this machine. */
async function modelsOf(
  provider: AiProvider,
  at: { readonly kind: string; readonly sources: ProviderSources; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { modelId } = at.sources.settings.providers[provider.id] ?? {};
  const set = modelId === undefined ? [] : [modelId];
  if (!KNOW_MODELS.has(at.kind) || provider.listModels === undefined) return set;
  const context = { credentials: {}, fetch: refuse, signal: at.signal };
  const listed = await provider.listModels(context);
  return [...new Set([...set, ...listed.map(({ id }) => id)])];
}

function refuse(): never {
  throw new NodeError("provider_unavailable", "a list of names asks nobody", { sent: false });
}

async function credentialOf(
  provider: string,
  { settings, credentials, services }: ProviderSources,
  signal: AbortSignal,
): Promise<Credential> {
  const reference = settings.providers[provider]?.credential;
  if (reference?.startsWith(SERVICE)) {
    return ofConnection(reference.slice(SERVICE.length), services);
  }
  try {
    const { apiKey, accessToken } = await credentials.resolve({ provider, signal });
    return (apiKey ?? accessToken) === undefined ? "not_needed" : "present";
  } catch (error) {
    signal.throwIfAborted();
    if (!NodeError.isInstance(error)) throw error;
    return NO_KEY.has(error.code) ? "missing" : "unknown";
  }
}

/** Whether a connection is there, by its record: a run would renew it, a list does not. */
async function ofConnection(
  slug: string,
  { services, info }: ProviderSources["services"],
): Promise<Credential> {
  for (const service of services) {
    const { connections } = await info(service);
    const status = connections.find((each) => each.slug === slug)?.status;
    if (status === "unavailable") return "unknown";
    if (status !== undefined) return status === "connected" ? "present" : "missing";
  }
  return "missing";
}
