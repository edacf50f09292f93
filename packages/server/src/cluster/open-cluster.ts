/** Opens what the servers of a cluster share. Its packages are loaded here, and by nothing else. */
import { createHmac } from "node:crypto";
import type { Dispatcher } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { type Lock, OAuthError } from "@millrace/oauth";
import type { SharedStore } from "@millrace/store";
import type { OpenedStore } from "../connections/index.ts";
import { badOption } from "../errors.ts";
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

/** Between two tries to get a lock that another caller has: a token request takes some hundred milliseconds. */
const AGAIN_MS = 100;

/** The store of credentials and its lock, which hold for all servers. */
export function openSharedCredentials({ credentials }: SharedStore): OpenedStore {
  const lock: Lock = {
    async acquire(key, { timeoutMs, signal }) {
      const giveUpAt = performance.now() + timeoutMs;
      for (;;) {
        const lease = await credentials.lease(key);
        if (lease !== undefined) return lease;
        if (performance.now() >= giveUpAt) {
          const text = `credential store: another server had the entry for ${timeoutMs / 1_000} s. Try again.`;
          throw new OAuthError("Credential", text, { reason: "lock_timeout" });
        }
        await sleep(AGAIN_MS, signal);
      }
    },
  };
  return { store: credentials, name: "shared", lock, close: async () => {} };
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
    throw badOption(text, cause);
  }
}

async function inOption<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw badOption(`option "cluster": ${cause.message}`, cause);
  }
}
