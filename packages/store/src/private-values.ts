/**
 * Values that the log must not show, sealed with AES-256-GCM under the key of the installation, which lies beside the database
 * and is in no backup. A value is bound to its run and its name: moved elsewhere it does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Json } from "@millrace/contracts";
import { StoreError } from "./errors.ts";

/** Of AES-256. */
export const KEY_BYTES = 32;
const NONCE_BYTES = 12; // NIST SP 800-38D, 8.2
const TAG_BYTES = 16;

export interface Sealed {
  readonly nonce: Uint8Array;
  readonly body: Uint8Array;
}

/** The key in the file `path`; made, readable by its owner alone, when there is none. */
export function installationKey(path: string): Uint8Array {
  if (!existsSync(path)) writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx" });
  const key = readFileSync(path);
  if (key.length !== KEY_BYTES) {
    throw new StoreError("store_corrupt", `${path} is not a key of ${KEY_BYTES} bytes`);
  }
  return key;
}

export function seal(key: Uint8Array, bound: string, value: Json): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(bound));
  const text = cipher.update(JSON.stringify(value), "utf8");
  return { nonce, body: Buffer.concat([text, cipher.final(), cipher.getAuthTag()]) };
}

/** Throws `store_corrupt` when the value was changed, moved, or sealed with another key. */
export function unseal(key: Uint8Array, bound: string, { nonce, body }: Sealed): Json {
  const text = body.subarray(0, body.length - TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(bound))
      .setAuthTag(body.subarray(body.length - TAG_BYTES));
    return JSON.parse(Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8"));
  } catch {
    throw new StoreError("store_corrupt", "a private value does not open with the key beside it");
  }
}
