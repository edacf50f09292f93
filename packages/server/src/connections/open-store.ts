/** The credential store that an operator chose. Nothing else is chosen for them: a store that fails stays the store. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { CredentialStore, Lock } from "@millrace/oauth";
import { fileCredentialStore, fileLock } from "@millrace/oauth/store/file";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { osCredentialStore } from "@millrace/oauth/store/os";

/** The name of all our entries in the store of the system. */
const SERVICE = "millrace";

/** The key of the encrypted file: 32 bytes, or a passphrase, or what is asked for either when the file is first opened. */
export type CredentialKey =
  | { readonly bytes: Uint8Array }
  | { readonly passphrase: string }
  | (() => Promise<{ readonly bytes: Uint8Array } | { readonly passphrase: string }>);

/** Where credentials are kept. */
export interface CredentialsOptions {
  /**
   * Default: with the option `cluster` its store, sealed, for all servers; else `os`. `os`: the credential store of the operating system. `file`: an encrypted file, which needs `key`. `memory`: nothing
   * outlives the process. Or a store of your own.
   */
  readonly store?: "os" | "file" | "memory" | CredentialStore;
  /** Folder of the encrypted file and of the locks; default `millrace` in the data folder of the user. */
  readonly dir?: string;
  readonly key?: CredentialKey;
}

/** An open store. */
export interface OpenedStore {
  readonly store: CredentialStore;
  /** `os`, `file`, `memory`, `custom`; `shared`: that of a cluster. */
  readonly name: string;
  /** Between the processes that share the store; none where no other process does. */
  readonly lock: Lock | undefined;
  close(): Promise<void>;
}

/** Opens the store; nothing is read, started or asked for before its first use. Throws `TypeError` for a file without key. */
export function openCredentialStore(options: CredentialsOptions = {}): OpenedStore {
  const { store: choice = "os", dir = dataFolder(), key } = options;
  const close = async (): Promise<void> => {};
  if (typeof choice === "object") return { store: choice, name: "custom", lock: undefined, close };
  const name = choice;
  if (name === "memory") return { store: memoryCredentialStore(), name, lock: undefined, close };
  const lock = fileLock({ dir: join(dir, "locks") });
  if (name === "os") {
    const store = osCredentialStore({ service: SERVICE });
    return { store, name, lock, close: async () => store[Symbol.asyncDispose]() };
  }
  if (key === undefined) throw new TypeError("the encrypted credential file needs a key");
  return {
    store: fileCredentialStore({ path: join(dir, "credentials.json"), key }),
    name,
    lock,
    close,
  };
}

/** @see XDG Base Directory Specification; on Windows the local application data */
export function dataFolder(): string {
  const { LOCALAPPDATA, XDG_DATA_HOME } = process.env;
  const base =
    process.platform === "win32"
      ? (LOCALAPPDATA ?? join(homedir(), "AppData", "Local"))
      : XDG_DATA_HOME || join(homedir(), ".local", "share");
  return join(base, "millrace");
}
