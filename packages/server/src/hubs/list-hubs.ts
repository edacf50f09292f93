/** Hubs as a list. */
import type { CommandResult } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { type PageArgs, pageOf } from "../dispatch/pages.ts";

/** A page of hubs. */
export function listHubs(store: Store, page: PageArgs): CommandResult<"list_hubs"> {
  return pageOf(store.hubs.list(), ({ id }) => id, page, { store, filter: { list: "hubs" } });
}
