/**
 * The credential store of the operating system.
 *   O1  Locked, absent and broken are three different answers.
 *   O2  Nothing native runs in this process (see helper-process.ts).
 *   O3  An entry that one library wrote is found when the other one is installed later, and moves to it.
 *   O4  No other store is ever taken instead.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OAuthError } from "../../errors.ts";
import { checkNames } from "../../options.ts";
import type { CredentialStore } from "../../types.ts";
import { checkAccount, checkValue, credentialFailure, OTHER_STORE } from "../credential-failure.ts";
import {
  accountIn,
  attributesOf,
  BACKEND_NAMES,
  type Backend,
  helperBackend,
  locked,
  Turns,
} from "./backend.ts";
import { BusError } from "./bus.ts";
import { sessionBusAddress } from "./bus-address.ts";
import { chunkedBackend } from "./chunked-backend.ts";
import { type BackendName, HelperProcess } from "./helper-process.ts";
import { type Presence, type SecretService, withSecretService } from "./secret-service.ts";

/** How the credential store of the system is used. */
export interface OsCredentialStoreOptions {
  /** Under which name the entries are kept; all of Millrace's are under `millrace`. */
  readonly service: string;
  /** How long the system may take for an answer. Default 5000, and 120000 with `unlock: "prompt"`. */
  readonly timeoutMs?: number;
  /** The libraries to use, the preferred one first: `keytar`, and `@napi-rs/keyring` as `napi`. Default both, in this order. */
  readonly backends?: readonly BackendName[];
  /** `"prompt"`: the desktop may ask the user to unlock a keyring. Default `"never"`: a locked keyring is an error. */
  readonly unlock?: "never" | "prompt";
  /** A folder from where the libraries are looked for, before this package's own place. */
  readonly resolveFrom?: string;
  /** Where `helper.js` of this package is, for programs that are bundled into one file. Default: beside this module. */
  readonly helperUrl?: URL;
}

/** Beside this module, in the sources as in the build; a bundle of CommonJS has no place, and looks in the working directory. */
export function helperBesideUs(): URL {
  return import.meta.url === undefined
    ? pathToFileURL("helper.js")
    : new URL("./helper.js", import.meta.url);
}

const OPTIONS: readonly (keyof OsCredentialStoreOptions)[] = [
  ...(["service", "timeoutMs", "backends", "unlock", "resolveFrom", "helperUrl"] as const),
];
const TIMEOUT_MS = { never: 5_000, prompt: 120_000 };
const MAX_TIMER_MS = 2 ** 31 - 1;

/** State of an entry in the Secret Service, by library; undefined without a Secret Service. */
type Presences = Readonly<Record<BackendName, Presence>> | undefined;

/**
 * The credential store of the operating system: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows.
 * The libraries run in a process of their own, which starts with the first call, ends after 5 s without one, and keeps
 * nobody waiting: disposing the store ends it at once.
 *
 * Throws `TypeError` or `RangeError` for options that make no sense. Everything else is an `OAuthError` of kind `Credential`,
 * whose message says what to do. Reason `locked`: the entry is in a locked keyring, or there is no other to write to;
 * `no_backend`: no library can be loaded; `unavailable`: no session bus, no provider, or the library failed;
 * `helper_timeout`, `helper_crash`: the library hung or crashed; `too_large`: a value above 1 MiB, on Windows above 57600 bytes.
 * A value that is empty or holds a NUL character has no reason: the libraries cannot store it.
 */
export function osCredentialStore(
  options: OsCredentialStoreOptions,
): CredentialStore & AsyncDisposable {
  checkNames("osCredentialStore", options, OPTIONS);
  return new OsStore(options);
}

class OsStore implements CredentialStore, AsyncDisposable {
  readonly #service: string;
  readonly #names: readonly BackendName[];
  readonly #unlock: "never" | "prompt";
  readonly #helper: HelperProcess;
  readonly #backends: Readonly<Record<BackendName, Backend>>;
  readonly #turns = new Turns(isTimeout);
  #isClosed = false;

  constructor(options: OsCredentialStoreOptions) {
    const { service, backends = BACKEND_NAMES, unlock = "never", resolveFrom } = options;
    if (typeof service !== "string" || service === "" || service.includes("\0")) {
      throw new TypeError("service must be text that is not empty");
    }
    const unknown = backends.find((name) => !BACKEND_NAMES.includes(name));
    if (unknown !== undefined || backends.length === 0) {
      throw new TypeError(`backends must name some of ${BACKEND_NAMES.join(", ")}`);
    }
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS[unlock];
    if (timeoutMs === undefined) throw new TypeError('unlock must be "never" or "prompt"');
    if (!(timeoutMs > 0)) throw new RangeError("timeoutMs must be a number above 0");
    this.#service = service;
    this.#names = [...new Set(backends)];
    this.#unlock = unlock;
    this.#helper = new HelperProcess({
      script: options.helperUrl ?? helperBesideUs(),
      timeoutMs: Math.min(timeoutMs, MAX_TIMER_MS),
      resolveFrom: resolveFrom && resolve(resolveFrom),
    });
    const backend = (name: BackendName) => {
      const native = helperBackend(this.#helper, name, service);
      return process.platform === "win32" ? chunkedBackend(native) : native;
    };
    this.#backends = { keytar: backend("keytar"), napi: backend("napi") };
  }

  async get(account: string): Promise<string | undefined> {
    this.#check(account);
    return this.#turns.take(() => this.#get(account));
  }

  async #get(account: string): Promise<string | undefined> {
    const presences = await this.#probe(account);
    if (this.#isNowhere(presences)) return undefined;
    const isLocked = this.#isOnlyLocked(presences);
    if (isLocked && this.#unlock === "never") throw locked();
    const [chosen, ...others] = await this.#usable();
    const read = (name: BackendName) =>
      this.#mayRead(presences?.[name]) ? this.#backends[name].get(account) : undefined;
    const value = await read(chosen);
    if (value !== undefined) return value;
    for (const name of others) {
      const found = await read(name);
      if (found !== undefined) return this.#move(account, found, { from: name, to: chosen });
    }
    if (isLocked) throw locked("the keyring stayed locked");
    const owner = this.#names.find((name) => presences?.[name] === "open");
    if (owner && owner !== chosen && !others.includes(owner)) throw notLoaded(owner);
    return undefined;
  }

  async set(account: string, value: string): Promise<void> {
    this.#check(account);
    checkValue(value);
    if (value === "" || value.includes("\0")) {
      throw credentialFailure(
        "the value is empty or holds a NUL character",
        "The credential stores of the systems cannot keep that; store it in another encoding.",
      );
    }
    await this.#turns.take(async () => {
      const presences = await this.#probe(account, "write");
      const [chosen, ...others] = await this.#usable();
      await this.#backends[chosen].set(account, value);
      // On macOS both libraries name their items alike: what one deletes, the other one has lost.
      if (process.platform === "darwin") return;
      for (const name of others) {
        if (presences?.[name] !== "absent") await this.#backends[name].delete(account);
      }
    });
  }

  async delete(account: string): Promise<boolean> {
    this.#check(account);
    return this.#turns.take(async () => {
      const presences = await this.#probe(account);
      if (this.#isNowhere(presences)) return false;
      const lockedNames = this.#names.filter((name) => presences?.[name] === "locked");
      if (lockedNames.length > 0 && this.#unlock === "never") throw locked();
      const usable = await this.#usable();
      const owner = this.#names.find(
        (name) => presences && presences[name] !== "absent" && !usable.includes(name),
      );
      if (owner) throw notLoaded(owner);
      let isDeleted = false;
      for (const name of usable) {
        if (presences?.[name] === "absent") continue;
        const isGone = await this.#backends[name].delete(account);
        if (!isGone && lockedNames.includes(name)) throw locked("the keyring stayed locked");
        isDeleted ||= isGone;
      }
      return isDeleted;
    });
  }

  /** Account names, sorted. In the Secret Service without a library: those may crash when a keyring is locked. */
  async list(): Promise<string[]> {
    this.#check("any");
    return this.#turns.take(async () => {
      const found = await this.#onBus((service) => this.#search(service));
      return [...new Set(found ?? (await this.#listNative()))].sort();
    });
  }

  async #listNative(): Promise<string[]> {
    const accounts: string[] = [];
    for (const name of await this.#usable()) accounts.push(...(await this.#backends[name].list()));
    return accounts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#helper.close();
  }

  #check(account: string): void {
    if (this.#isClosed) {
      throw credentialFailure("the store was disposed", "Open another one.", {
        reason: "unavailable",
      });
    }
    checkAccount(account);
  }

  /** The libraries that can be used, the preferred one first. */
  async #usable(): Promise<[BackendName, ...BackendName[]]> {
    const loaded = await this.#helper.loaded();
    const [chosen, ...others] = this.#names.filter((name) => loaded[name] === null);
    if (chosen) return [chosen, ...others];
    throw credentialFailure(
      "no library for the credential store of the system can be loaded",
      `Install one: npm install keytar; ${OTHER_STORE}`,
      { reason: "no_backend" },
    );
  }

  /** Asks the Secret Service, where there is one: on the other systems the libraries tell locked from absent. */
  async #onBus<T>(ask: (service: SecretService) => Promise<T>): Promise<T | undefined> {
    if (!hasSecretService()) return undefined;
    const address = sessionBusAddress(process.env);
    return address.kind === "unknown" ? undefined : withSecretService(address, ask);
  }

  #probe(account: string, purpose: "read" | "write" = "read"): Promise<Presences> {
    return this.#onBus(async (service) => {
      if (purpose === "write" && this.#unlock === "never") await checkWritable(service);
      const presences: Record<BackendName, Presence> = { keytar: "absent", napi: "absent" };
      for (const name of this.#names) {
        presences[name] = await service.presence(attributesOf(name, this.#service, account));
      }
      return presences;
    });
  }

  async #search(service: SecretService): Promise<string[]> {
    const { found, lockedCount } = await service.search({ service: this.#service });
    if (lockedCount > 0) throw locked();
    return found.flatMap((attributes) =>
      this.#names.flatMap((name) => accountIn(name, attributes) ?? []),
    );
  }

  /** Reading a locked item makes the desktop ask for the password. */
  #mayRead(presence: Presence | undefined): boolean {
    return presence !== "absent" && !(presence === "locked" && this.#unlock === "never");
  }

  #isNowhere(presences: Presences): boolean {
    return presences !== undefined && this.#names.every((name) => presences[name] === "absent");
  }

  #isOnlyLocked(presences: Presences): boolean {
    if (!presences || this.#names.some((name) => presences[name] === "open")) return false;
    return this.#names.some((name) => presences[name] === "locked");
  }

  /**
   * Puts the entry where it would be written now; what was written there meanwhile is newer and wins. Where that does not
   * work the entry stays where it is: it could be read.
   */
  async #move(
    account: string,
    value: string,
    { from, to }: { from: BackendName; to: BackendName },
  ): Promise<string> {
    try {
      await this.#onBus(checkWritable);
      const newer = await this.#backends[to].get(account);
      if (newer !== undefined) return newer;
      await this.#backends[to].set(account, value);
      await this.#backends[from].delete(account);
    } catch {
      // It stays where it is.
    }
    return value;
  }
}

/** Whether a call ended at a time limit, of the bus or of the helper. */
function isTimeout(error: unknown): boolean {
  if (!OAuthError.isInstance(error)) return false;
  const { reason, cause } = error;
  return reason === "helper_timeout" || (cause instanceof BusError && cause.reason === "silent");
}

/** Whether this system keeps credentials behind the Secret Service of the session. */
export function hasSecretService(): boolean {
  return process.platform !== "darwin" && process.platform !== "win32";
}

async function checkWritable(service: SecretService): Promise<void> {
  const collection = await service.defaultCollection();
  if (collection === "locked") throw locked();
  if (collection === "none") {
    throw credentialFailure(
      "there is no keyring to write to",
      `Log in to a desktop session once, which makes one; ${OTHER_STORE}`,
      { reason: "unavailable" },
    );
  }
}

function notLoaded(name: BackendName): Error {
  const module = name === "keytar" ? "keytar" : "@napi-rs/keyring";
  return credentialFailure(
    `the entry was written by ${module}, which cannot be loaded now`,
    `Install it: npm install ${module}; ${OTHER_STORE}`,
    { reason: "no_backend" },
  );
}
