/** Hubs in folders of this machine. They come from the operator alone: no command can name a path of the server. */
import { isAbsolute } from "node:path";
import type { Hub, HubProvides } from "@millrace/contracts";
import { hubProvidesSchema, slugSchema } from "@millrace/contracts/schemas";
import type { Hubs } from "@millrace/store";

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

/** Reads the option `hubs`; throws a sentence about the value. */
export function readHubFolders(value: unknown = []): readonly HubFolder[] {
  if (!Array.isArray(value)) throw "must be a list of hubs";
  const ids = new Set<string>();
  for (const hub of value) {
    const { id, dir, name = "", provides = [], enabled = true } = (hub ?? {}) as Partial<HubFolder>;
    if (!slugSchema.safeParse(id).success) throw 'has a hub whose "id" is no slug';
    if (ids.has(id as string)) throw `has the hub "${id}" twice`;
    ids.add(id as string);
    if (typeof dir !== "string" || !isAbsolute(dir)) throw `needs an absolute "dir" of hub "${id}"`;
    const fits =
      typeof name === "string" &&
      typeof enabled === "boolean" &&
      Array.isArray(provides) &&
      provides.every((kind) => hubProvidesSchema.safeParse(kind).success);
    if (!fits) throw `has a hub "${id}" with a bad "name", "provides" or "enabled"`;
  }
  return value;
}

/**
 * Puts the configured hubs beside those that were added by command, and takes away the folders that are configured no longer. A
 * hub that was added under the same id gives way.
 */
export async function registerFolders(hubs: Hubs, folders: readonly HubFolder[]): Promise<void> {
  const ids = new Set(folders.map(({ id }) => id));
  for (const { id, kind } of hubs.list()) {
    if (kind === "dir" && !ids.has(id)) await hubs.delete(id);
  }
  for (const { id, name = id, provides = TEMPLATES, enabled = true } of folders) {
    const known = hubs.get(id);
    // The path of the folder is nobody's business but the operator's.
    const hub: Hub = { id, name, kind: "dir", url: `dir:${id}`, provides, enabled };
    const { syncedAt } = known ?? {};
    await hubs.put(
      { ...hub, ...(known?.kind === "dir" && syncedAt !== undefined && { syncedAt }) },
      { index: known?.kind === "dir" ? "keep" : "drop" },
    );
  }
}
