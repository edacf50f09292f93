/**
 * Which key a provider gets.
 *   C1  A reference that a flow names is looked up in the credential store alone; it never becomes a variable, and never
 *       another key than the one named.
 *   C2  The environment counts only where the operator says so (`env:NAME`), or as the provider's well-known variable when
 *       neither a setting nor the store has a key.
 */
import {
  type AbortSignalLike,
  type AiCredentials,
  type AiCredentialsPort,
  type CredentialsPort,
  NodeError,
} from "@millrace/contracts";
import { secretVariable, WELL_KNOWN } from "./secret-variables.ts";
import type { AiSettings, ProviderSettings } from "./settings/read.ts";

/** Where keys are looked up. */
export interface AiCredentialsOptions {
  readonly settings: Pick<AiSettings, "providers">;
  /** Secrets `ai:<name>` and connections of services. */
  readonly credentials: Pick<CredentialsPort, "secret" | "resolve">;
  /** Variables of this process. */
  readonly env: { readonly [name: string]: string | undefined };
}

/**
 * The keys of providers. A provider of kind `openai-compatible`, `mock`, `local` and one that an extension brings may have none; for any
 * other it rejects with `NodeError` `credentials_missing`, which names the reference. What the store or the renewal of a
 * connection rejects with passes through (`unavailable`, `credentials_expired`, `no_refresh_token`).
 */
export function createAiCredentials(options: AiCredentialsOptions): AiCredentialsPort {
  const { settings, credentials, env } = options;
  const secret = (name: string): Promise<string | undefined> => credentials.secret(`ai:${name}`);

  async function stored(reference: string, signal: AbortSignalLike): Promise<AiCredentials> {
    if (!reference.startsWith("service:")) {
      const apiKey = await secret(reference);
      if (apiKey === undefined) throw notStored(reference);
      return { apiKey };
    }
    const credential = await credentials.resolve(reference.slice("service:".length), { signal });
    const value = credential.reveal();
    const isToken = credential.scheme === "oauth2" || credential.scheme === "bearer";
    return isToken ? { accessToken: value } : { apiKey: value };
  }

  return {
    async resolve({ provider, reference, signal }) {
      if (reference !== undefined) return stored(reference, signal);
      const setting: ProviderSettings | undefined = settings.providers[provider];
      const configured = setting?.credential;
      if (configured !== undefined) {
        if (!configured.startsWith("env:")) return stored(configured, signal);
        const name = configured.slice("env:".length);
        const apiKey = keyInVariable(env, name);
        if (!apiKey)
          throw missing(`the variable ${name} is not set, and ${provider} has its key there`);
        return { apiKey };
      }
      // These have no keys: where there is no store, they work without it.
      if (provider === "mock" || (provider === "local" && setting?.kind === undefined)) return {};
      const found = await secret(provider).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      const name = wellKnownVariable(provider);
      const value = "value" in found ? found.value : undefined;
      const apiKey = value ?? (name === undefined ? undefined : keyInVariable(env, name));
      if (apiKey !== undefined) return { apiKey };
      if (wellKnownVariable(setting?.kind ?? provider) === undefined) return {};
      // A store that cannot be read may have the key; one that can be has none.
      throw "error" in found ? found.error : notStored(provider);
    },
  };
}

/** The variable in which the maker of a provider documents its key; undefined: it has none. */
export function wellKnownVariable(provider: string): string | undefined {
  return Object.hasOwn(WELL_KNOWN, provider) ? WELL_KNOWN[provider] : undefined;
}

/** The key that a variable has, or its file; undefined where there is none. Throws `NodeError` for a file that cannot be read. */
export function keyInVariable(env: AiCredentialsOptions["env"], name: string): string | undefined {
  try {
    return secretVariable(env, name) || undefined;
  } catch (error) {
    throw missing((error as Error).message);
  }
}

/** A key that is needed and not there. */
export function missing(text: string): NodeError {
  return new NodeError("credentials_missing", text, { reason: "auth", sent: false });
}

function notStored(reference: string): NodeError {
  const name = wellKnownVariable(reference);
  const how = `millrace secrets set ai:${reference} stores it`;
  const orSet = name === undefined ? "" : `, or set ${name}`;
  return missing(`the credential "${reference}" is not stored; ${how}${orSet}`);
}
