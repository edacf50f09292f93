/** Pages of lists that are short enough to be looked at whole. */
import type { Page } from "@millrace/contracts";
import { type Cursors, type Store, StoreError } from "@millrace/store";
import { ProblemError } from "../errors.ts";

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
  { store, filter }: { readonly store: Pick<Store, "cursors">; readonly filter: object },
): Page<T> {
  const { cursors } = store;
  const after = cursor === undefined ? undefined : (positionOf(cursors, filter, cursor) as K);
  const rest = after === undefined ? all : all.filter((item) => keyOf(item) > after);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rest.length > items.length && last !== undefined;
  return { items, nextCursor: hasMore ? cursors.write(filter, keyOf(last)) : null };
}

function positionOf(cursors: Cursors, filter: object, cursor: string): unknown {
  try {
    return cursors.read(filter, cursor);
  } catch (error) {
    if (!StoreError.isInstance(error) || error.reason !== "other_list") throw error;
    const detail = "The cursor belongs to another list or filter";
    throw new ProblemError("bad_cursor", { detail, cause: error });
  }
}
