/** Pages of lists that are short enough to be looked at whole. */
import type { Page } from "@millrace/contracts";
import type { Cursors } from "./cursors.ts";

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
