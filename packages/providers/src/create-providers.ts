/** The providers of an installation: the well-known vendors, `mock`, and those that the operator has named. */
import type { AiProvider } from "@millrace/contracts";
import { mockProvider } from "./offline/mock.ts";
import type { AiSettings, ProviderSettings } from "./settings/read.ts";
import {
  anthropicProvider,
  compatibleProvider,
  googleProvider,
  openaiProvider,
} from "./vendors/providers.ts";

/** Providers that are there without any setting. */
const ALWAYS = {
  openai: openaiProvider,
  anthropic: anthropicProvider,
  google: googleProvider,
  mock: mockProvider,
} as const;

const KINDS = { ...ALWAYS, "openai-compatible": compatibleProvider } as const;

/**
 * Every provider, each of another id; `local` where this machine has models, unless a setting has that name. A vendor's package is
 * loaded when a model of it is first asked for, and no key is read here. `settings` are those of `readAiSettings`.
 */
export function createProviders(
  settings: Pick<AiSettings, "providers">,
  local?: AiProvider,
): readonly AiProvider[] {
  const none: Record<string, ProviderSettings> = Object.fromEntries(
    Object.keys(ALWAYS).map((id) => [id, {}]),
  );
  const made = Object.entries({ ...none, ...settings.providers })
    // Of a provider without a kind under that name the settings only know its default model.
    .filter(([id, { kind }]) => id !== "local" || kind !== undefined)
    .map(([id, setting]) => KINDS[setting.kind ?? (id as keyof typeof ALWAYS)](id, setting));
  return local === undefined || made.some(({ id }) => id === local.id) ? made : [...made, local];
}
