/** The key that seals private values: the same for all servers of a store, which know it from outside and never keep it. */
import { createHash } from "node:crypto";
import { StoreError } from "@millrace/store";
import type { Link } from "../connect/link.ts";
import { composed } from "../sql/statements.ts";

const KEY_BYTES = 32;
const ID_DIGITS = 16;

/**
 * The key in a text: 32 bytes as 64 hex digits or in base64, as `openssl rand -base64 32` makes them. Throws `TypeError`, without
 * showing the text.
 */
export function parseStoreKey(text: string): Uint8Array {
  const word = text.trim();
  const isHex = /^[0-9a-f]{64}$/i.test(word);
  const isBase64 = /^[0-9A-Za-z+/_-]{43}=?$/.test(word);
  if (isHex || isBase64) return Buffer.from(word, isHex ? "hex" : "base64");
  throw new TypeError(
    "the key of the store is 32 bytes, as 64 hex digits or in base64; `openssl rand -base64 32` makes one",
  );
}

/** Names a key without telling it. */
export function storeKeyId(key: Uint8Array): string {
  const hash = createHash("sha256").update("millrace store key\n").update(key);
  return hash.digest("hex").slice(0, ID_DIGITS);
}

/** Compares the key with that of the store, which the first one becomes. Throws `store_wrong_key`. */
export async function checkKey(link: Link, key: Uint8Array): Promise<void> {
  if (key.length !== KEY_BYTES) throw new TypeError(`the key of the store has ${KEY_BYTES} bytes`);
  const id = storeKeyId(key);
  await link.send(
    composed("INSERT INTO meta(key, value) VALUES('keyId', ?) ON CONFLICT DO NOTHING"),
    [id],
  );
  const { rows } = await link.send(composed("SELECT value FROM meta WHERE key = 'keyId'"));
  const known = String(rows[0]?.["value"]);
  if (known === id) return;
  throw new StoreError(
    "store_wrong_key",
    `the store was made with the key ${known}, this server has the key ${id}; give all servers of a store the same key`,
  );
}
