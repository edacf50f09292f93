/** Positions in lists, signed: a reader can carry them and cannot make them. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { StoreError } from "./errors.ts";

const VERSION = 1;
const MAC_BYTES = 16; // 128 bits: nobody guesses one
const MAX_LENGTH = 1_024; // of a cursor; ours are far shorter

/** Makes and reads the cursors of one store. `filter` is what the list was asked for: a cursor of another filter is refused. */
export interface Cursors {
  write(filter: unknown, key: readonly number[]): string;
  /** Throws `bad_cursor`. */
  read(filter: unknown, cursor: string, length: number): readonly number[];
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
    read(filter, cursor, length) {
      const bad = new StoreError("bad_cursor", "the cursor is not one of this list");
      const [body = "", mac = "", ...more] = cursor.length > MAX_LENGTH ? [] : cursor.split(".");
      const given = Buffer.from(mac, "base64url");
      if (more.length > 0 || given.length !== MAC_BYTES) throw bad;
      if (!timingSafeEqual(given, macOf(body))) throw bad;
      const { v, key, filterHash } = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
      if (v !== VERSION || filterHash !== hashOf(filter) || key.length !== length) throw bad;
      return key;
    },
  };
}

function hashOf(filter: unknown): string {
  return createHash("sha256").update(JSON.stringify(filter)).digest("base64url");
}
