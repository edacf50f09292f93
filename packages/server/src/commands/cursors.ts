/**
 * Cursors of pages: where a list goes on, signed, and bound to the list and filter they were made for, so that nobody
 * reads a position into them that the server did not give.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { ProblemError } from "../errors.ts";
import { canonicalHash } from "./canonical-json.ts";

const VERSION = 1;
const MAC_BYTES = 16;

/** Makes and reads cursors under one key. */
export interface Cursors {
  /** `position` is any JSON; `filter` names the list and everything that narrows it. */
  encode(position: unknown, filter: unknown): string;
  /** The position. Throws `bad_cursor` for a forged one, or one of another filter. */
  decode(cursor: string, filter: unknown): unknown;
}

/** Makes page cursors that cannot be forged: signed, and bound to the filter they were made for. */
export function createCursors(key: Uint8Array): Cursors {
  const mac = (text: string): Buffer =>
    createHmac("sha256", key).update(text).digest().subarray(0, MAC_BYTES);
  return {
    encode(position, filter) {
      const body = JSON.stringify({ v: VERSION, key: position, filterHash: canonicalHash(filter) });
      const text = Buffer.from(body).toString("base64url");
      return `${text}.${mac(text).toString("base64url")}`;
    },
    decode(cursor, filter) {
      const [text = "", signature = "", ...more] = cursor.split(".");
      const given = Buffer.from(signature, "base64url");
      const isWhole = more.length === 0 && given.length === MAC_BYTES;
      if (!isWhole || !timingSafeEqual(given, mac(text))) {
        throw new ProblemError("bad_cursor");
      }
      const body = JSON.parse(Buffer.from(text, "base64url").toString()) as {
        v: number;
        key: unknown;
        filterHash: string;
      };
      if (body.v !== VERSION || body.filterHash !== canonicalHash(filter)) {
        throw new ProblemError("bad_cursor", {
          detail: "The cursor belongs to another list or filter",
        });
      }
      return body.key;
    },
  };
}
