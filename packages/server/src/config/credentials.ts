/** How the options `services` and `credentials` are read; throws a sentence about the value. */
import { definitionKind, type ServiceDefinition } from "@millrace/contracts";
import type { CredentialsOptions } from "../connections/index.ts";

const STORES: ReadonlySet<unknown> = new Set(["os", "file", "memory"]);
const KEY_BYTES = 32; // AES-256

/** Definitions of `defineService`, each slug once. */
export function readServices(value: unknown = []): readonly ServiceDefinition[] {
  if (!Array.isArray(value)) throw "must be a list of services";
  const slugs = new Set<string>();
  for (const service of value) {
    if (definitionKind(service) !== "service") throw "must hold what defineService makes";
    const { slug } = service as ServiceDefinition;
    if (slugs.has(slug)) throw `names the service "${slug}" twice`;
    slugs.add(slug);
  }
  return value;
}

/** Where credentials are kept; an encrypted file without a key is refused, it never becomes another store. */
export function readCredentials(value: unknown = {}): CredentialsOptions {
  if (typeof value !== "object" || value === null) throw "must be an object";
  const { store = "os", dir, key } = value as { [name: string]: unknown };
  if (!STORES.has(store) && !isStore(store)) throw 'has a "store" that is not os, file or memory';
  if (dir !== undefined && (typeof dir !== "string" || dir === "")) {
    throw 'has a "dir" that is no path';
  }
  if (store === "file" && key === undefined) {
    throw "needs a key for the encrypted file: set MILLRACE_CREDENTIAL_KEY to 32 random bytes in base64";
  }
  if (key !== undefined && !isKey(key)) {
    throw `needs a key of ${KEY_BYTES} bytes (MILLRACE_CREDENTIAL_KEY: in base64), or a passphrase`;
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
