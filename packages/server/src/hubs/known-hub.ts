/** Hubs and items that there are. */
import type { Hub, HubItem, HubProvides } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";

const KINDS: { readonly [K in HubItem["kind"]]: HubProvides } = {
  template: "templates",
  nodes: "nodes",
  model: "models",
};

/** A hub. Throws `not_found`. */
export function knownHub({ store }: Pick<ServerHost, "store">, id: string): Hub {
  const hub = store.hubs.get(id);
  if (hub === null) throw new ProblemError("not_found", { members: { resource: "hub" } });
  return hub;
}

/** What a hub offers of the kinds that it may provide, by id, from its stored index. Throws `not_found`. */
export function itemsOf(host: Pick<ServerHost, "store">, id: string): readonly HubItem[] {
  const { provides } = knownHub(host, id);
  return host.store.hubs.items(id).filter(({ kind }) => provides.includes(KINDS[kind]));
}
