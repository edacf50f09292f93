/** Problems of the options `services`, `credentials` and `ai`, as the rest of a sentence. */

import { definitionKind, type ServiceDefinition } from "@millrace/contracts";
import { unknownOption } from "@millrace/contracts/options";
import {
  type AiSettings,
  type AiValues,
  ProvidersError,
  readAiSettings,
} from "@millrace/providers";

const STORES: ReadonlySet<unknown> = new Set(["os", "file", "memory"]);
const KEY_BYTES = 32; // AES-256

/** Definitions of `defineService`, each slug once. */
export function servicesProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "must be a list of services";
  const slugs = new Set<string>();
  for (const service of value) {
    if (definitionKind(service) !== "service") return "must hold what defineService makes";
    const { slug } = service as ServiceDefinition;
    if (slugs.has(slug)) return `names the service "${slug}" twice`;
    slugs.add(slug);
  }
  return undefined;
}

/** Where credentials are kept; an encrypted file without a key is refused, it never becomes another store. */
export function credentialsProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "must be an object";
  const { store = "os", dir, key } = value as { [name: string]: unknown };
  const unknown = unknownOption(value, { store: true, dir: true, key: true });
  if (unknown !== undefined) return `has an ${unknown}`;
  if (!STORES.has(store) && !isStore(store)) return 'has a "store" that is not os, file or memory';
  if (dir !== undefined && (typeof dir !== "string" || dir === "")) {
    return 'has a "dir" that is no path';
  }
  if (store === "file" && key === undefined) {
    return "needs a key for the encrypted file: set MILLRACE_CREDENTIAL_KEY to 32 random bytes in base64";
  }
  return key === undefined || isKey(key)
    ? undefined
    : `needs a key of ${KEY_BYTES} bytes (MILLRACE_CREDENTIAL_KEY: in base64), or a passphrase`;
}

function isStore(value: unknown): boolean {
  return typeof value === "object" && value !== null && "get" in value && "set" in value;
}

function isKey(value: unknown): boolean {
  if (typeof value === "function") return true;
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

/** The option `ai` with what it says. Throws `ProvidersError`. */
export function readAi({ env = {}, ...values }: AiOption = {}): ResolvedAi {
  return { settings: readAiSettings(values), env };
}

/** Message for a value of the option `ai` that is not valid; undefined for a valid one. */
export function aiProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return "must be an object";
  try {
    readAi(value);
    return undefined;
  } catch (error) {
    if (ProvidersError.isInstance(error)) return `is not right: ${error.message}`;
    throw error;
  }
}
