/** Pages of lists that are short enough to be looked at whole. */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { Page } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { Cursors } from "../ports.ts";
import { canonicalHash } from "./conditions.ts";

/** Which page: as many as `limit`, after the one that `cursor` names. */
export interface PageArgs {
  readonly limit: number;
  readonly cursor?: string;
}

/**
 * One page of `all`, which is in the ascending order of its keys. `filter` names the list and everything that narrows it.
 * Throws `bad_cursor` for a cursor of another list.
 */
export function pageOf<T, K extends string | number>(
  all: readonly T[],
  keyOf: (item: T) => K,
  { limit, cursor }: PageArgs,
  { cursors, filter }: { readonly cursors: Cursors; readonly filter: object },
): Page<T> {
  const after = cursor === undefined ? undefined : (cursors.decode(cursor, filter) as K);
  const rest = after === undefined ? all : all.filter((item) => keyOf(item) > after);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rest.length > items.length && last !== undefined;
  return { items, nextCursor: hasMore ? cursors.encode(keyOf(last), filter) : null };
}

const VERSION = 1;
const MAC_BYTES = 16;

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
