/** What makes a server one of many: the keys `store`, `serve.executor` and `restate`, as the option `cluster`. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isObject } from "@millrace/contracts/kit";
import type { ClusterOption, CreateServerOptions } from "@millrace/server";
import type { Config } from "../../config/load.ts";
import { secretIn } from "../../config/values.ts";
import { reason, usage } from "../../errors.ts";
import type { CliIo } from "../../output/io.ts";

const FORMS = "takes env:NAME or file:PATH, because it is a secret";

/** What the flags of the command say. */
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
  const { store, ...rest } = credentials;
  return record(values["credentials"])["store"] === undefined ? rest : { ...rest, store };
}

/** The secret that a reference leads to. */
async function secretOf(
  key: string,
  reference: unknown,
  { folder, io }: { readonly folder: string; readonly io: CliIo },
): Promise<string> {
  const [, kind, name = ""] = /^(env|file):(.+)$/.exec(String(reference)) ?? [];
  if (kind === undefined) throw usage(`${key} ${FORMS}`);
  if (kind === "env") {
    const value = secretIn(io, name);
    if (value === undefined || value === "") throw usage(`${key}: the variable ${name} is not set`);
    return value;
  }
  const path = resolve(folder, name);
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw usage(`${key}: cannot read ${path}: ${reason(error)}`);
  }
}

function record(value: unknown): { readonly [name: string]: unknown } {
  return isObject(value) ? (value as { readonly [name: string]: unknown }) : {};
}
