/** Positions in lists, signed: a reader can carry them and cannot make them. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Json } from "@millrace/contracts";
import { StoreError } from "../errors.ts";

const VERSION = 1;
const MAC_BYTES = 16; // 128 bits: cannot be guessed
const MAX_LENGTH = 1_024; // of a cursor; ours are far shorter

/** Makes and reads the cursors of one store. `filter` names the list and everything that narrows it. */
export interface Cursors {
  /** `position` is any JSON. */
  write(filter: unknown, position: Json): string;
  /** The position. Throws `bad_cursor` for a forged cursor, and one of another list or filter. */
  read(filter: unknown, cursor: string): Json;
}

export function createCursors(secret: Uint8Array): Cursors {
  const macOf = (body: string): Buffer =>
    createHmac("sha256", secret).update(body).digest().subarray(0, MAC_BYTES);
  return {
    write(filter, key) {
      const body = Buffer.from(
        JSON.stringify({ v: VERSION, key, filterHash: hashOf(filter) }),
      ).toString("base64url");
      return `${body}.${macOf(body).toString("base64url")}`;
    },
    read(filter, cursor) {
      const [body = "", mac = "", ...more] = cursor.length > MAX_LENGTH ? [] : cursor.split(".");
      const given = Buffer.from(mac, "base64url");
      const isWhole = more.length === 0 && given.length === MAC_BYTES;
      if (!isWhole || !timingSafeEqual(given, macOf(body))) {
        throw new StoreError("bad_cursor", "the cursor is not one of this store");
      }
      const { v, key, filterHash } = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
      if (v === VERSION && filterHash === hashOf(filter)) return key;
      const message = "the cursor belongs to another list or filter";
      throw new StoreError("bad_cursor", message, { reason: "other_list" });
    },
  };
}

function hashOf(filter: unknown): string {
  return createHash("sha256").update(JSON.stringify(filter)).digest("base64url");
}
