/** Models of hubs, as their installer needs them: from the stored index, never from the hub's own word at that moment. */
import { join } from "node:path";
import type { Hub } from "@millrace/contracts";
import { ProblemError } from "../errors.ts";
import { itemsOf, knownHub } from "../hubs/index.ts";
import type { ServerHost } from "../ports.ts";
import type { HubModelPort } from "./open-models.ts";

/** Finds models in the hubs of a store; `folders` are those of the operator's hubs, by id. */
export function hubModels(
  host: Pick<ServerHost, "store">,
  folders: ReadonlyMap<string, string>,
): HubModelPort {
  return async (hubId, itemId) => {
    const found = look(host, hubId, itemId);
    if (found === undefined) return undefined;
    const { hub, item } = found;
    const source = sourceOf(hub, item.path, folders);
    if (source === undefined) return undefined;
    return { source, sha256: item.digest.slice("sha256:".length), bytes: item.bytes };
  };
}

function look(host: Pick<ServerHost, "store">, hubId: string, itemId: string) {
  try {
    const hub = knownHub(host, hubId);
    const item = itemsOf(host, hubId).find(({ id, kind }) => id === itemId && kind === "model");
    return item === undefined || !hub.enabled ? undefined : { hub, item };
  } catch (error) {
    if (ProblemError.isInstance(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

function sourceOf({ id, kind, url }: Hub, path: string, folders: ReadonlyMap<string, string>) {
  if (kind === "https") return { url: new URL(path, url.endsWith("/") ? url : `${url}/`).href };
  const folder = folders.get(id);
  return folder === undefined ? undefined : { file: join(folder, path) };
}
