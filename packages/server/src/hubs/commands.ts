/** Commands of hubs. A sync takes the index alone; what is installed is checked against it first. */
import type { Hub } from "@millrace/contracts";
import {
  checkConditions,
  inTurn,
  keyed,
  pageOf,
  tagged,
  wire,
  withTag,
} from "../dispatch/index.ts";
import { invalidArg, ProblemError } from "../errors.ts";
import type { HandlerList, ServerHost } from "../ports.ts";
import { isPublicKey, syncHub } from "./hub-index.ts";
import { installItem } from "./install-item.ts";
import { listHubs } from "./list-hubs.ts";
import { itemsOf, knownHub } from "./stored-hubs.ts";

export const hubHandlers: HandlerList = [
  wire("list_hubs", (page, { host }) => listHubs(host.store, page)),
  wire("get_hub", async ({ hubId }, { host }) => tagged(await knownHub(host, hubId))),
  wire("add_hub", async (args, call) => {
    const { hubs } = call.host.store;
    const work = () =>
      inTurn(hubs, async () => {
        if ((await hubs.get(args.id)) !== null) {
          throw new ProblemError("already_exists", { members: { resource: "hub" } });
        }
        const hub: Hub = { ...args, kind: "https", url: hubUrl(args.url) };
        checkKey(args.publicKey);
        await hubs.put(hub);
        return hub;
      });
    return withTag(keyed(call, "add_hub", args, work));
  }),
  wire("update_hub", async ({ hubId, ifMatch, ...change }, { host }) => {
    const hub = await changeHub(host, hubId, ifMatch, async (current) => {
      const next = {
        ...current,
        ...change,
        ...(change.url !== undefined && { url: hubUrl(change.url) }),
      };
      checkKey(change.publicKey);
      // The stored index is of the old address or key, so it is dropped.
      const isSame = next.url === current.url && next.publicKey === current.publicKey;
      const { syncedAt: _syncedAt, ...fresh } = next;
      await host.store.hubs.put(isSame ? next : fresh, { index: isSame ? "keep" : "drop" });
      return knownHub(host, hubId);
    });
    return tagged(hub);
  }),
  wire("remove_hub", ({ hubId, ifMatch }, { host }) =>
    changeHub(host, hubId, ifMatch, async () => {
      await host.store.hubs.delete(hubId);
      return null;
    }),
  ),
  wire("sync_hub", (args, call) =>
    withTag(keyed(call, "sync_hub", args, () => syncHub(call.host, args.hubId))),
  ),
  wire("list_hub_items", async ({ hubId, ...page }, { host }) =>
    pageOf(await itemsOf(host, hubId), ({ id }) => id, page, {
      store: host.store,
      filter: { list: "hub items", hubId },
    }),
  ),
  wire("install_hub_item", (args, call) =>
    keyed(call, "install_hub_item", args, () => installItem(args, call)),
  ),
];

/** Changes a hub that was added by command. Throws `not_found`, `operator_required`, and as every change does. */
function changeHub<T>(
  host: ServerHost,
  id: string,
  ifMatch: string | undefined,
  change: (current: Hub) => Promise<T>,
): Promise<T> {
  return inTurn(host.store.hubs, async () => {
    const current = await knownHub(host, id);
    if (current.kind === "dir") {
      throw new ProblemError("operator_required", {
        detail: "The hub is a folder of the operator, who changes it in the configuration",
      });
    }
    checkConditions(current, { ifMatch });
    return change(current);
  });
}

/** The address as it is kept. Throws `invalid_args` for one that holds more than a place. */
function hubUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url?.protocol === "https:" && `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (url === undefined || !isPlain) {
    throw invalidArg("/url", "must be an https: URL without user, query and fragment");
  }
  return url.href;
}

function checkKey(publicKey: string | undefined): void {
  if (publicKey !== undefined && !isPublicKey(publicKey)) {
    throw invalidArg("/publicKey", "must be the 32 bytes of an Ed25519 key in base64");
  }
}
