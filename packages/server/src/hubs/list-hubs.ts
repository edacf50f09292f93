/** Hubs as a list. */
import type { CommandResult } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { type PageArgs, pageOf } from "../dispatch/pages.ts";

export async function listHubs(store: Store, page: PageArgs): Promise<CommandResult<"list_hubs">> {
  return pageOf(await store.hubs.list(), ({ id }) => id, page, { store, filter: { list: "hubs" } });
}
