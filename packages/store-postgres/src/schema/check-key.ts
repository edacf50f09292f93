/** Whether a server has the key of the store. */
import { StoreError } from "@millrace/store";
import type { Link } from "../connect/link.ts";
import { composed } from "../sql/statements.ts";
import { KEY_BYTES, storeKeyId } from "./store-key.ts";

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
