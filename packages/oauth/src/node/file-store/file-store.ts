/**
 * Credentials in one encrypted file, for machines without a credential store of their own.
 *   F1  An entry that cannot be decrypted is an error: never absent, never overwritten.
 *   F2  Processes that share the file lose no entry of each other.
 *   F3  After a crash the file is the old one or the new one.
 */
import { basename, dirname, resolve } from "node:path";
import { OAuthError } from "../../errors.ts";
import { checkNames } from "../../options.ts";
import type { CredentialStore } from "../../types.ts";
import { checkAccount, checkValue, credentialFailure } from "../credential-failure.ts";
import {
  checkKey,
  deriveKey,
  type KeyDerivation,
  type KeySource,
  keyIdOf,
  type LazyKey,
  newDerivation,
  type SealedEntry,
  seal,
  unseal,
} from "./entry-cipher.ts";
import { fileLock } from "./file-lock.ts";
import { makeFolder, readPrivate, writePrivate } from "./private-file.ts";

/** Format of the file; part of every seal. */
const VERSION = 1;
/** As long as a fresh token waits for its lock; a change takes milliseconds. */
const LOCK_TIMEOUT_MS = 45_000;

interface FileShape {
  readonly v: typeof VERSION;
  readonly kdf: KeyDerivation;
  /** Names the key that seals the entries; absent in files of older versions. */
  readonly keyId?: string;
  readonly entries: Readonly<Record<string, SealedEntry>>;
}

/** A decrypted file: its header, its key and its entries. */
interface Opened {
  readonly kdf: KeyDerivation;
  readonly key: Uint8Array;
  readonly sealed: Map<string, SealedEntry>;
  readonly values: Map<string, string>;
}

/**
 * A credential store in one JSON file, `{"v":1,"kdf":…,"keyId":…,"entries":{"service:x":{"iv":…,"tag":…,"data":…}}}`: values are
 * encrypted with AES-256-GCM, account names can be read. `key` is 32 bytes, or a passphrase that scrypt makes a key from (half
 * a second at the first use), or a function that is asked for either when the file is first opened. The file is made at the
 * first `set`, mode 0600.
 *
 * Throws `TypeError` or `RangeError` for a key of another length. Everything else is an `OAuthError` of kind `Credential`:
 * reason `decrypt` for another key or a damaged file, which is then left as it is; `unavailable` for a symbolic link, a file
 * that others may read, or one that cannot be read or written; `lock_timeout` when other processes hold the file for 45 s;
 * `too_large` for a value above 1 MiB.
 */
export function fileCredentialStore(options: {
  path: string;
  key: KeySource | LazyKey;
}): CredentialStore {
  checkNames("fileCredentialStore", options, ["path", "key"]);
  const path = resolve(options.path);
  const open = opener(path, keySource(options.key));
  const change = changer(path, open);
  return {
    async get(account) {
      checkAccount(account);
      return (await open())?.values.get(account);
    },
    async set(account, value) {
      checkAccount(account);
      checkValue(value);
      await change(({ sealed, key }) => {
        sealed.set(account, seal(key, VERSION, account, value));
        return true;
      });
    },
    async delete(account) {
      checkAccount(account);
      return change(({ sealed }) => sealed.delete(account));
    },
    async list() {
      return [...((await open())?.values.keys() ?? [])].sort();
    },
  };
}

/** Reads the file; undefined when there is none. A key that was derived is kept for as long as the salt stays. */
function opener(path: string, asked: LazyKey): (make?: "make") => Promise<Opened | undefined> {
  let known: { readonly salt: string; readonly key: Promise<Uint8Array | undefined> } | undefined;
  const keyFor = (source: KeySource, kdf: KeyDerivation) => {
    const salt = JSON.stringify(kdf);
    if (known?.salt !== salt) known = { salt, key: deriveKey(source, kdf) };
    return known.key;
  };
  return async (make) => {
    const text = await readPrivate(path);
    if (text === undefined && make === undefined) return undefined;
    const source = await asked();
    const file: FileShape =
      text === undefined
        ? { v: VERSION, kdf: newDerivation(source), entries: {} }
        : parse(path, text);
    const key = await keyFor(source, file.kdf);
    if (!key) throw undecipherable(path, "it was made with a key of another kind");
    const [own, other] = [keyIdOf(key), file.keyId];
    if (other !== undefined && other !== own) {
      throw undecipherable(path, `it was made with the key ${other}, and the key given is ${own}`);
    }
    const sealed = new Map(Object.entries(file.entries));
    return { kdf: file.kdf, key, sealed, values: unsealAll(path, key, sealed) };
  };
}

/** Changes the file, one change after the other: in this process by waiting, between processes by the lock. */
function changer(
  path: string,
  open: (make: "make") => Promise<Opened | undefined>,
): (edit: (file: Opened) => boolean) => Promise<boolean> {
  const lock = fileLock({ dir: dirname(path) });
  let last: Promise<unknown> = Promise.resolve();
  const run = async (edit: (file: Opened) => boolean): Promise<boolean> => {
    await makeFolder(path);
    for (;;) {
      const held = await lock.acquire(basename(path), { timeoutMs: LOCK_TIMEOUT_MS });
      try {
        const file = (await open("make")) as Opened;
        if (!edit(file)) return false;
        // Whoever slept since it read the file would undo what others wrote.
        if (!(await held.held())) continue;
        await writePrivate(path, print(file));
        return true;
      } finally {
        await held.release().catch(() => {}); // it goes stale by itself; what was written counts
      }
    }
  };
  return (edit) => {
    const done = last.then(() => run(edit));
    last = done.catch(() => {});
    return done;
  };
}

function print({ kdf, key, sealed }: Opened): string {
  return `${JSON.stringify({ v: VERSION, kdf, keyId: keyIdOf(key), entries: Object.fromEntries(sealed) })}\n`;
}

function parse(path: string, text: string): FileShape {
  let file: Partial<Record<keyof FileShape, unknown>>;
  try {
    file = JSON.parse(text);
  } catch {
    throw undecipherable(path, "it is damaged");
  }
  if (!isObject(file) || !isObject(file.kdf) || !isObject(file.entries)) {
    throw undecipherable(path, "it is damaged");
  }
  if (file.v !== VERSION) throw undecipherable(path, "it is of a format that is not known here");
  return file as unknown as FileShape;
}

/** Every value: a key that opens one entry and not another would lose the other one with the next write. */
function unsealAll(
  path: string,
  key: Uint8Array,
  sealed: ReadonlyMap<string, SealedEntry>,
): Map<string, string> {
  const values = new Map<string, string>();
  for (const [account, entry] of sealed) {
    try {
      values.set(account, unseal(key, VERSION, account, entry));
    } catch {
      throw undecipherable(path, "the key is another one, or the file is damaged");
    }
  }
  return values;
}

function undecipherable(path: string, why: string): Error {
  return credentialFailure(
    `cannot decrypt ${path}: ${why}`,
    "Use the key that it was made with; or move the file away and connect the services again.",
    { reason: "decrypt" },
  );
}

/** The key as something to ask, which answers once; a key that is given is checked at once. */
function keySource(key: KeySource | LazyKey): LazyKey {
  if (typeof key !== "function") {
    checkKey(key);
    const copy = copyOf(key);
    return () => copy;
  }
  let known: Promise<KeySource> | undefined;
  const ask = async (): Promise<KeySource> => {
    try {
      const found = await key();
      checkKey(found);
      return found;
    } catch (cause) {
      known = undefined;
      if (OAuthError.isInstance(cause)) throw cause;
      throw credentialFailure("no key for the encrypted file", (cause as Error).message, {
        reason: "unavailable",
        cause,
      });
    }
  };
  return () => (known ??= ask());
}

function copyOf(key: KeySource): KeySource {
  return "bytes" in key ? { bytes: Uint8Array.from(key.bytes) } : { passphrase: key.passphrase };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
