/** The key `credentials`: where credentials are kept. Nothing else is chosen when that store does not work. */
import { usage } from "../errors.ts";
import type { CliIo } from "../io.ts";
import { dataFolder } from "./folders.ts";

const STORES = ["os", "file", "memory"] as const;
const KEY_BYTES = 32; // AES-256

/** The store that the person chose, and where its files are. */
export interface CredentialsChoice {
  readonly store: (typeof STORES)[number];
  /** Data folder, absolute: the encrypted file, the locks, and the store. */
  readonly dir: string;
  /** Key of the encrypted file, from MILLRACE_CREDENTIAL_KEY. */
  readonly key?: { readonly bytes: Uint8Array };
}

/** Reads `{"store": "os"}`. Throws a usage error; the key itself is never in it. */
export function readCredentials(
  value: Readonly<Record<string, unknown>>,
  home: string | undefined,
  io: CliIo,
): CredentialsChoice {
  const { MILLRACE_CREDENTIAL_KEY } = io.env;
  const { store: wanted = "os", ...rest }: { readonly store?: unknown } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw usage(`credentials has store, and no "${unknown}"`);
  const store = STORES.find((each) => each === wanted);
  if (store === undefined) throw usage(`credentials.store takes ${STORES.join(", ")}`);
  return {
    store,
    dir: dataFolder(home, io),
    ...(MILLRACE_CREDENTIAL_KEY && { key: { bytes: keyOf(MILLRACE_CREDENTIAL_KEY) } }),
  };
}

function keyOf(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  throw usage(`MILLRACE_CREDENTIAL_KEY takes ${KEY_BYTES} random bytes in base64`);
}
