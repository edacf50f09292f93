/** How the options `services` and `credentials` are read; throws a `Misfit`. */

import { definitionKind, type ServiceDefinition } from "@millrace/contracts";
import {
  type AiSettings,
  type AiValues,
  ProvidersError,
  readAiSettings,
} from "@millrace/providers";
import type { CredentialsOptions } from "../connections/index.ts";
import { Misfit } from "../errors.ts";

const STORES: ReadonlySet<unknown> = new Set(["os", "file", "memory"]);
const KEY_BYTES = 32; // AES-256

/** Definitions of `defineService`, each slug once. */
export function readServices(value: unknown = []): readonly ServiceDefinition[] {
  if (!Array.isArray(value)) throw new Misfit("must be a list of services");
  const slugs = new Set<string>();
  for (const service of value) {
    if (definitionKind(service) !== "service")
      throw new Misfit("must hold what defineService makes");
    const { slug } = service as ServiceDefinition;
    if (slugs.has(slug)) throw new Misfit(`names the service "${slug}" twice`);
    slugs.add(slug);
  }
  return value;
}

/** Where credentials are kept; an encrypted file without a key is refused, it never becomes another store. */
export function readCredentials(value: unknown = {}): CredentialsOptions {
  if (typeof value !== "object" || value === null) throw new Misfit("must be an object");
  const { store = "os", dir, key } = value as { [name: string]: unknown };
  if (!STORES.has(store) && !isStore(store))
    throw new Misfit('has a "store" that is not os, file or memory');
  if (dir !== undefined && (typeof dir !== "string" || dir === "")) {
    throw new Misfit('has a "dir" that is no path');
  }
  if (store === "file" && key === undefined) {
    throw new Misfit(
      "needs a key for the encrypted file: set MILLRACE_CREDENTIAL_KEY to 32 random bytes in base64",
    );
  }
  if (key !== undefined && !isKey(key)) {
    throw new Misfit(
      `needs a key of ${KEY_BYTES} bytes (MILLRACE_CREDENTIAL_KEY: in base64), or a passphrase`,
    );
  }
  return value;
}

function isStore(value: unknown): boolean {
  return typeof value === "object" && value !== null && "get" in value && "set" in value;
}

function isKey(value: unknown): boolean {
  const { bytes, passphrase } = (value ?? {}) as { [name: string]: unknown };
  if (bytes !== undefined) return bytes instanceof Uint8Array && bytes.length === KEY_BYTES;
  return typeof passphrase === "string" && passphrase !== "";
}

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The operator's keys `providers`, `mcpServers` and `ai`, and the variables that may hold keys of providers. */
export interface AiOption extends AiValues {
  /** Default: those of the server. */
  readonly env?: Environment;
}

/** The same, checked. */
export interface ResolvedAi {
  readonly settings: AiSettings;
  readonly env: Environment;
}

/** Checks the option `ai`; absent, it is empty. Throws a `Misfit`. */
export function readAi(value: unknown = {}): ResolvedAi {
  if (typeof value !== "object" || value === null) throw new Misfit("must be an object");
  const { env = {}, ...values } = value as AiOption;
  try {
    return { settings: readAiSettings(values), env };
  } catch (error) {
    if (ProvidersError.isInstance(error)) throw new Misfit(`is not right: ${error.message}`);
    throw error;
  }
}
