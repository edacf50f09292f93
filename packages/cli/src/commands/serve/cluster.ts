/** The option `cluster` from the keys `store`, `serve.executor` and `restate`. */

import { isObject } from "@millrace/contracts/kit";
import type { ClusterOption, CreateServerOptions } from "@millrace/server";
import type { Config } from "../../config/load.ts";
import { secretOf } from "../../config/secret-reference.ts";
import { reason, usage } from "../../errors.ts";
import type { CliIo } from "../../output/io.ts";

export interface ClusterFlags {
  readonly executor?: string | undefined;
  readonly storeUrl?: string | undefined;
}

/** The option, or undefined where no store is named. Throws a usage error that names the key; a secret is never in it. */
export async function clusterOf(
  { values, folder }: Config,
  flags: ClusterFlags,
  io: CliIo,
): Promise<ClusterOption | undefined> {
  const store = record(values["store"]);
  const executor = flags.executor ?? record(values["serve"])["executor"] ?? "local";
  const url = flags.storeUrl ?? store["url"];
  if (url === undefined) {
    if (executor === "local") return undefined;
    throw usage(`the executor ${executor} needs a store that servers share: set store.url`);
  }
  if (store["key"] === undefined) {
    throw usage(
      "store.key is needed: 32 bytes, as `openssl rand -base64 32` makes them, the same for all servers",
    );
  }
  const { parseStoreKey } = await import("@millrace/store-postgres").catch((error: unknown) => {
    throw usage(`store.url needs the package @millrace/store-postgres: ${reason(error)}`);
  });
  const text = await secretOf("store.key", store["key"], { folder, io });
  let key: Uint8Array;
  try {
    key = parseStoreKey(text);
  } catch (error) {
    throw usage(`store.key: ${(error as Error).message}`);
  }
  const address = await secretOf("store.url", url, { folder, io });
  const cluster = { url: address, key };
  if (executor === "local") return { ...cluster, alone: true };
  if (executor === "postgres") return cluster;
  if (executor !== "restate") throw usage("serve.executor takes local, postgres, restate");
  const { ingress, admin, listen, endpoint, identityKeys } = record(values["restate"]);
  const needed = { ingress, admin, listen };
  for (const [name, value] of Object.entries(needed)) {
    if (value === undefined) throw usage(`the executor restate needs restate.${name}`);
  }
  return { ...cluster, restate: { ...needed, endpoint, identityKeys } as ClusterOption["restate"] };
}

/** Where a server of a cluster keeps credentials: where the configuration says, else in the store of all servers. */
export function credentialsOfCluster({
  values,
  credentials,
}: Config): NonNullable<CreateServerOptions["credentials"]> {
  const { store, dir, key } = credentials;
  return record(values["credentials"])["store"] === undefined ? { dir, key } : { dir, key, store };
}

function record(value: unknown): { readonly [name: string]: unknown } {
  return isObject(value) ? (value as { readonly [name: string]: unknown }) : {};
}
