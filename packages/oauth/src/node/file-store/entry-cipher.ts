/**
 * How one entry is encrypted: AES-256-GCM, a fresh IV for each write, and the account name in the seal, so that two entries
 * of a file cannot be exchanged. The text is base64.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from "node:crypto";

/** Parameters of the key derivation; stored in the file, because opening it needs the salt. */
export type KeyDerivation =
  | { readonly name: "none" }
  | {
      readonly name: "scrypt";
      readonly N: number;
      readonly r: number;
      readonly p: number;
      readonly salt: string;
    };

export interface SealedEntry {
  readonly iv: string;
  readonly tag: string;
  readonly data: string;
}

/** The secret of the user: a key, or a passphrase from which a key is derived. */
export type KeySource = { readonly bytes: Uint8Array } | { readonly passphrase: string };

/** Asked for the key when the file is first opened. */
export type LazyKey = () => KeySource | Promise<KeySource>;

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const IV_BYTES = 12; // what GCM is made for; NIST SP 800-38D, section 8.2
const TAG_BYTES = 16;
const SALT_BYTES = 16;
const KEY_ID_DIGITS = 16;
/** About half a second and 128 MiB for each guess of a passphrase; OWASP Password Storage Cheat Sheet, "scrypt". */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1 };
/** Twice what scrypt takes here; Node refuses more than 32 MiB when it is not told. */
const SCRYPT_MAX_BYTES = 256 * 1024 * 1024;

/** Throws `TypeError` or `RangeError` for a key that cannot be one. */
export function checkKey(key: KeySource): void {
  if ("bytes" in key) {
    if (!(key.bytes instanceof Uint8Array)) throw new TypeError("key.bytes must be a Uint8Array");
    if (key.bytes.length !== KEY_BYTES) {
      throw new RangeError(`key.bytes must hold ${KEY_BYTES} bytes, not ${key.bytes.length}`);
    }
  } else if (typeof key.passphrase !== "string" || key.passphrase === "") {
    throw new TypeError("key.passphrase must be text that is not empty");
  }
}

/** Names a key without telling it. */
export function keyIdOf(key: Uint8Array): string {
  const hash = createHash("sha256").update("millrace credential key\n").update(key);
  return hash.digest("hex").slice(0, KEY_ID_DIGITS);
}

/** How a new file derives its key. */
export function newDerivation(key: KeySource): KeyDerivation {
  if ("bytes" in key) return { name: "none" };
  return { name: "scrypt", ...SCRYPT, salt: randomBytes(SALT_BYTES).toString("base64") };
}

/** The key of a file, or undefined when the file was made with a key of the other kind, or in a way that is not ours. */
export async function deriveKey(
  key: KeySource,
  derivation: KeyDerivation,
): Promise<Uint8Array | undefined> {
  if ("bytes" in key) return derivation.name === "none" ? key.bytes : undefined;
  if (derivation.name !== "scrypt" || typeof derivation.salt !== "string") return undefined;
  // Exactly our costs: a file must not choose how much memory opening it takes.
  const { N, r, p } = derivation;
  if (N !== SCRYPT.N || r !== SCRYPT.r || p !== SCRYPT.p) return undefined;
  return scryptKey(key.passphrase, Buffer.from(derivation.salt, "base64"));
}

/** Encrypts a value for one account of a file of format `version`. */
export function seal(
  key: Uint8Array,
  version: number,
  account: string,
  value: string,
): SealedEntry {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(`${version}|${account}`));
  const data = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
  return {
    iv: iv.toString("base64"),
    tag: cipher.getAuthTag().toString("base64"),
    data: data.toString("base64"),
  };
}

/** The value of an entry. Throws when the key is another, or any byte of the entry is. */
export function unseal(
  key: Uint8Array,
  version: number,
  account: string,
  entry: SealedEntry,
): string {
  const iv = Buffer.from(entry.iv, "base64");
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(`${version}|${account}`));
  decipher.setAuthTag(Buffer.from(entry.tag, "base64"));
  const data = Buffer.from(entry.data, "base64");
  return Buffer.concat([decipher.update(data), decipher.final()]).toString("utf8");
}

function scryptKey(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const options: ScryptOptions = { ...SCRYPT, maxmem: SCRYPT_MAX_BYTES };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFKC"), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
