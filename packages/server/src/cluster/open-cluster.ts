/** Opens what the servers of a cluster share. Its packages are loaded here, and by nothing else. */
import { createHmac } from "node:crypto";
import type { Dispatcher } from "@millrace/contracts";
import type { SharedStore } from "@millrace/store";
import { ConfigError } from "../errors.ts";
import { createLocalDispatcher } from "../executor/index.ts";
import type { Logger } from "../ports.ts";
import type { ClusterOption } from "./option.ts";

/** Opens the store. Throws `ConfigError` for an address or a key that is none, and what the store refuses. */
export async function openSharedStore(
  { url, key, restate, alone }: ClusterOption,
  keepsContent: () => Promise<boolean>,
): Promise<SharedStore> {
  const { openPostgresStore } = await loadPostgres();
  const shared = restate === undefined || restate === null ? "postgres" : "restate";
  const executor = alone === true ? "local" : shared;
  return inOption(() => openPostgresStore({ url, key, keepsContent, executor }));
}

/** The dispatcher that the option asks for; it assigns runs to servers. */
export async function openDispatcher(
  { restate, alone }: ClusterOption,
  {
    store,
    ...parts
  }: { readonly store: SharedStore; readonly maxDrives: number; readonly log: Logger },
): Promise<Dispatcher> {
  if (alone === true) return createLocalDispatcher(parts);
  if (restate === undefined) {
    const { createPostgresDispatcher } = await loadPostgres();
    return createPostgresDispatcher({ store, ...parts });
  }
  const { createRestateDispatcher } = await load(
    "@millrace/restate",
    () => import("@millrace/restate"),
  );
  return inOption(async () => createRestateDispatcher({ ...restate, ...parts }));
}

/** The key by which the audit of model calls names texts, the same at all servers. */
export function auditKeyOf({ key }: ClusterOption): Uint8Array {
  return createHmac("sha256", key).update("millrace audit").digest();
}

function loadPostgres() {
  return load("@millrace/store-postgres", () => import("@millrace/store-postgres"));
}

async function load<T>(name: string, from: () => Promise<T>): Promise<T> {
  try {
    return await from();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const text = `option "cluster" needs the package ${name}: install it beside @millrace/server`;
    throw new ConfigError("option_invalid", text, { cause });
  }
}

async function inOption<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new ConfigError("option_invalid", `option "cluster": ${cause.message}`, { cause });
  }
}
