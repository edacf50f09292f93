/**
 * The providers of an installation: the well-known vendors, `mock`, and those that the operator has named. They
 * go through `defineProvider`, as those of extensions do.
 */
import { type AiProvider, defineProvider, type HostContext } from "@millrace/contracts";
import { mockProvider } from "./offline/mock.ts";
import type { AiSettings, ProviderSettings } from "./settings/read.ts";
import { anthropicProvider } from "./vendors/anthropic.ts";
import { googleProvider } from "./vendors/google.ts";
import { openaiProvider } from "./vendors/openai.ts";
import { type CompatibleSettings, compatibleProvider } from "./vendors/openai-compatible.ts";

/** `name` is the id under which a provider of this kind is used. */
const KINDS = {
  openai: defineProvider({
    id: "openai",
    title: "OpenAI",
    create: ({ name, ...settings }) => openaiProvider(String(name), settings),
  }),
  anthropic: defineProvider({
    id: "anthropic",
    title: "Anthropic",
    create: ({ name, ...settings }) => anthropicProvider(String(name), settings),
  }),
  google: defineProvider({
    id: "google",
    title: "Google",
    create: ({ name, ...settings }) => googleProvider(String(name), settings),
  }),
  "openai-compatible": defineProvider({
    id: "openai-compatible",
    title: "OpenAI compatible",
    create: ({ name, ...settings }) =>
      compatibleProvider(String(name), settings as unknown as CompatibleSettings),
  }),
  mock: defineProvider({ id: "mock", title: "Mock", create: () => mockProvider() }),
} as const;

/** Providers that are there without any setting. */
const ALWAYS = ["openai", "anthropic", "google", "mock"] as const;

/**
 * Every provider, each of another id; `local` where this machine has models, unless a setting has that name. A maker's package is loaded when a model of it is first asked for, and no key is read here.
 * `settings` are those of `readAiSettings`.
 */
export function createProviders(
  settings: Pick<AiSettings, "providers">,
  local?: AiProvider,
): readonly AiProvider[] {
  const none: Record<string, ProviderSettings> = Object.fromEntries(ALWAYS.map((id) => [id, {}]));
  const given = Object.entries({ ...none, ...settings.providers });
  // Of a provider without a kind under that name the settings only know its default model.
  const isOurs = (id: string, { kind }: ProviderSettings) => id === "local" && kind === undefined;
  const made = given
    .filter(([id, setting]) => !isOurs(id, setting))
    .map(([id, { kind, credential: _, modelId: _model, ...config }]) => {
      const definition = KINDS[kind ?? (id as (typeof ALWAYS)[number])];
      return definition.create({ name: id, ...config }, NO_HOST);
    });
  return local === undefined || made.some(({ id }) => id === local.id) ? made : [...made, local];
}

/** The built-in kinds get their dependencies with each call. */
const NO_HOST = {} as HostContext;
