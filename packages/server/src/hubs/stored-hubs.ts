/** Hubs and items that there are. */

import { isAbsolute, join } from "node:path";
import type { Hub, HubItem, HubProvides } from "@millrace/contracts";
import { hubProvidesSchema, slugSchema } from "@millrace/contracts/schemas";
import type { Hubs } from "@millrace/store";
import { known, ProblemError } from "../errors.ts";
import type { HubModelPort } from "../models/open-models.ts";
import type { ServerHost } from "../ports.ts";

const KINDS: { readonly [K in HubItem["kind"]]: HubProvides } = {
  template: "templates",
  nodes: "nodes",
  model: "models",
};

/** A hub. Throws `not_found`. */
export async function knownHub({ store }: Pick<ServerHost, "store">, id: string): Promise<Hub> {
  return known(await store.hubs.get(id), "hub");
}

/** The items of a hub by id, of the kinds that it may provide, from its stored index. Throws `not_found`. */
export async function itemsOf(
  host: Pick<ServerHost, "store">,
  id: string,
): Promise<readonly HubItem[]> {
  const { provides } = await knownHub(host, id);
  return (await host.store.hubs.items(id)).filter(({ kind }) => provides.includes(KINDS[kind]));
}

/** A hub in a folder, as an operator configures it. */
export interface HubFolder {
  readonly id: string;
  /** Absolute; holds `millrace-hub.json`. */
  readonly dir: string;
  /** Default: the id. */
  readonly name?: string;
  /** Default: templates alone. */
  readonly provides?: readonly HubProvides[];
  /** Default true. */
  readonly enabled?: boolean;
}

const TEMPLATES: readonly HubProvides[] = ["templates"];

/** The problem of the option `hubs`, as the rest of a sentence. */
export function hubsProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "must be a list of hubs";
  const ids = new Set<string>();
  for (const hub of value) {
    const { id, dir, name = "", provides = [], enabled = true } = (hub ?? {}) as Partial<HubFolder>;
    if (!slugSchema.safeParse(id).success) return 'has a hub whose "id" is no slug';
    if (ids.has(id as string)) return `has the hub "${id}" twice`;
    ids.add(id as string);
    if (typeof dir !== "string" || !isAbsolute(dir))
      return `needs an absolute "dir" of hub "${id}"`;
    const fits =
      typeof name === "string" &&
      typeof enabled === "boolean" &&
      Array.isArray(provides) &&
      provides.every((kind) => hubProvidesSchema.safeParse(kind).success);
    if (!fits) return `has a hub "${id}" with a bad "name", "provides" or "enabled"`;
  }
  return undefined;
}

/**
 * Puts the configured hubs beside those that were added by command, and takes away the folders that are configured no longer. A
 * hub that was added under the same id gives way.
 */
export async function registerFolders(hubs: Hubs, folders: readonly HubFolder[]): Promise<void> {
  const ids = new Set(folders.map(({ id }) => id));
  for (const { id, kind } of await hubs.list()) {
    if (kind === "dir" && !ids.has(id)) await hubs.delete(id);
  }
  for (const { id, name = id, provides = TEMPLATES, enabled = true } of folders) {
    const known = await hubs.get(id);
    // Answers do not show the path of the folder.
    const hub: Hub = { id, name, kind: "dir", url: `dir:${id}`, provides, enabled };
    const { syncedAt } = known ?? {};
    await hubs.put(
      { ...hub, ...(known?.kind === "dir" && syncedAt !== undefined && { syncedAt }) },
      { index: known?.kind === "dir" ? "keep" : "drop" },
    );
  }
}

/** Finds models in the hubs of a store; `folders` are those of the operator's hubs, by id. */
export function hubModels(
  host: Pick<ServerHost, "store">,
  folders: ReadonlyMap<string, string>,
): HubModelPort {
  return async (hubId, itemId) => {
    const found = await look(host, hubId, itemId);
    if (found === undefined) return undefined;
    const { hub, item } = found;
    const source = sourceOf(hub, item.path, folders);
    if (source === undefined) return undefined;
    return { source, sha256: item.digest.slice("sha256:".length), bytes: item.bytes };
  };
}

async function look(host: Pick<ServerHost, "store">, hubId: string, itemId: string) {
  try {
    const hub = await knownHub(host, hubId);
    const item = (await itemsOf(host, hubId)).find(
      ({ id, kind }) => id === itemId && kind === "model",
    );
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
